package io.varve.server.script;

import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The first line of a script, such as {@code #!lua flags=no-writes}. Immutable.
 *
 * @param flags those of its header; null if it has none, and the rules for scripts from before Redis 7 hold
 * @param bodyStart the index of the first byte of the program: the line end of the header, so that lines keep their
 *     numbers
 */
record ScriptHeader(@Nullable Set<ScriptFlag> flags, int bodyStart) {
    private static final String ENGINE = "#!lua";
    private static final String FLAGS = "flags=";
    private static final ScriptHeader NONE = new ScriptHeader(null, 0);

    /** @throws ScriptException if the script has an invalid header */
    static ScriptHeader of(byte[] source) throws ScriptException {
        if (source.length < 2 || source[0] != '#' || source[1] != '!') {
            return NONE;
        }
        int end = lineEnd(source);
        if (end < 0) {
            throw new ScriptException("ERR Invalid script shebang");
        }
        String[] words = new String(source, 0, end, StandardCharsets.ISO_8859_1).trim().split("[ \t\r\f\u000b]+");
        if (!words[0].toLowerCase(Locale.ROOT).equals(ENGINE)) {
            throw new ScriptException("ERR Unexpected engine in script shebang: " + words[0]);
        }
        Set<ScriptFlag> flags = EnumSet.noneOf(ScriptFlag.class);
        for (int i = 1; i < words.length; i++) {
            if (!words[i].regionMatches(true, 0, FLAGS, 0, FLAGS.length())) {
                throw new ScriptException("ERR Unknown lua shebang option: " + words[i]);
            }
            addFlags(words[i].substring(FLAGS.length()), flags);
        }
        return new ScriptHeader(flags, end);
    }

    private static void addFlags(String names, Set<ScriptFlag> flags) throws ScriptException {
        if (names.isEmpty()) {
            return;
        }
        for (String name : names.split(",", -1)) {
            ScriptFlag flag = ScriptFlag.of(name);
            if (flag == null) {
                throw new ScriptException("ERR Unexpected flag in script shebang: " + name);
            }
            flags.add(flag);
        }
    }

    private static int lineEnd(byte[] source) {
        for (int i = 0; i < source.length; i++) {
            if (source[i] == '\n') {
                return i;
            }
        }
        return -1;
    }
}
