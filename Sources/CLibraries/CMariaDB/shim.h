#pragma once
#include <mysql.h>
#include <errmsg.h>
#include <mysqld_error.h>
#include "process.h"
