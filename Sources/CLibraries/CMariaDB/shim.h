#pragma once
#include <mysql.h>
#include <errmsg.h>
#include <mysqld_error.h>
#include "locks.h"
#include "process.h"
