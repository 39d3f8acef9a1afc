extension Completion {
  /// The walk that bash and zsh share: sets `at` to the command and `before` to an option still waiting for its value.
  private func walk(words: String) -> String {
    let waiting = nodes.flatMap(\.options).filter { $0.placeholder != nil }
    let known = nodes.dropFirst().map { Self.quoted($0.path) }.joined(separator: "|")
    let takesValue = waiting.isEmpty ? "" : "      \(Self.pattern(waiting))) before=$word; continue ;;\n"
    return """
        local at=\(Self.quoted(program)) before='' word
        for word in "\(words)"; do
          if [[ $word == = ]]; then continue; fi
          if [[ -n $before ]]; then before=''; continue; fi
          case $word in
      \(takesValue)      -*) continue ;;
          esac
          case "$at $word" in
            \(known.isEmpty ? "''" : known)) at="$at $word" ;;
          esac
        done

      """
  }

  var bash: String {
    let values = nodes.flatMap { node in
      node.options.filter { !$0.choices.isEmpty }.map { option in
        "    \(Self.pattern(option, at: node))) choices=\(Self.quoted(option.choices.joined(separator: " "))) ;;\n"
      }
    }
    let places = nodes.map { node in
      let words = node.commands.map(\.name) + node.choices + node.options.map { "--\($0.name)" }
      return "    \(Self.quoted(node.path))) choices=\(Self.quoted(words.joined(separator: " "))) ;;\n"
    }
    return """
      # Completion of \(program) for bash, made by "\(program) completion bash".
      \(function)() {
        local current=${COMP_WORDS[COMP_CWORD]} choices=''
      \(walk(words: "${COMP_WORDS[@]:1:COMP_CWORD-1}"))  if [[ -n $before ]]; then
          case "$at $before" in
      \(values.joined())    esac
        else
          case $at in
      \(places.joined())    esac
        fi
        COMPREPLY=($(compgen -W "$choices" -- "$current"))
      }
      complete -o default -F \(function) \(program)

      """
  }

  var zsh: String {
    let values = nodes.flatMap { node in
      node.options.filter { !$0.choices.isEmpty }.map { option in
        let choices = option.choices.map(Self.quoted).joined(separator: " ")
        return "    \(Self.pattern(option, at: node))) compadd -- \(choices); return ;;\n"
      }
    }
    let places = nodes.map { node in
      let commands = node.commands.map { Self.quoted("\($0.name):\($0.summary)") } + node.choices.map(Self.quoted)
      let options = node.options.map { Self.quoted("--\($0.name):\($0.help)") }
      return """
            \(Self.quoted(node.path)))
              found=(\(commands.joined(separator: " ")))
              options=(\(options.joined(separator: " "))) ;;

        """
    }
    // plain:ok, code of a shell
    return """
      #compdef \(program)
      # Completion of \(program) for zsh, made by "\(program) completion zsh".
      \(function)() {
        local -a found options
      \(walk(words: "${(@)words[2,CURRENT-1]}"))  if [[ -n $before ]]; then
          case "$at $before" in
      \(values.joined())    esac
          _files
          return
        fi
        case $at in
      \(places.joined())  esac
        if [[ $PREFIX == -* ]]; then
          _describe option options
        elif (( ${#found} )); then
          _describe command found
        else
          _files
        fi
      }
      if [[ $funcstack[1] == \(function) ]]; then \(function); else compdef \(function) \(program); fi

      """
  }

  var fish: String {
    let waiting = nodes.flatMap(\.options).filter { $0.placeholder != nil }
    let names = Set(waiting.flatMap { ["--\($0.name)"] + ($0.short.map { ["-\($0)"] } ?? []) }).sorted()
    let paths = nodes.dropFirst().map { Self.quoted($0.path) }.joined(separator: " ")
    var out = """
      # Completion of \(program) for fish, made by "\(program) completion fish".
      function _\(function)_at
        set -l at \(Self.quoted(program))
        set -l skip 0
        for word in (commandline -opc)[2..-1]
          if test $skip = 1
            set skip 0
          else if contains -- $word \(names.joined(separator: " "))
            set skip 1
          else if contains -- "$at $word" \(paths)
            set at "$at $word"
          end
        end
        test "$at" = "$argv[1]"
      end

      """
    for node in nodes {
      let condition = "complete -c \(program) -n \"_\(function)_at \(Self.quoted(node.path))\""
      for (name, summary) in node.commands {
        out += "\(condition) -f -a \(Self.quoted(name)) -d \(Self.quoted(summary))\n"
      }
      if !node.choices.isEmpty { out += "\(condition) -f -a \(Self.quoted(node.choices.joined(separator: " ")))\n" }
      for option in node.options {
        let short = option.short.map { " -s \($0)" } ?? ""
        let value =
          option.placeholder == nil
          ? "" : option.choices.isEmpty ? " -r -F" : " -x -a \(Self.quoted(option.choices.joined(separator: " ")))"
        out += "\(condition) -l \(option.name)\(short)\(value) -d \(Self.quoted(option.help))\n"
      }
    }
    return out
  }
}
