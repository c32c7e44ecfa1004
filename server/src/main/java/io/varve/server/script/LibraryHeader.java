package io.varve.server.script;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

import io.varve.server.config.ConfigReader;
import org.jspecify.annotations.Nullable;

/**
 * The first line of a library, such as {@code #!lua name=mylib}. Immutable.
 *
 * @param name the name of the library
 * @param bodyStart the index of the first byte of the program: the line end of the header, so that lines keep their
 *     numbers
 */
record LibraryHeader(String name, int bodyStart) {
    static final String WRONG_NAME = "Library names can only contain letters, numbers, or underscores(_) and must be at"
            + " least one character long";
    private static final String ENGINE = "lua";
    private static final String NAME = "name=";

    /** @throws ScriptException if the library has no header, or an invalid one */
    static LibraryHeader of(byte[] source) throws ScriptException {
        if (source.length < 2 || source[0] != '#' || source[1] != '!') {
            throw new ScriptException("ERR Missing library metadata");
        }
        int end = lineEnd(source);
        List<String> words = end < 0
                ? null
                : ConfigReader.split(new String(source, 0, end, StandardCharsets.ISO_8859_1));
        if (words == null) {
            throw new ScriptException("ERR Invalid library metadata");
        }
        String name = null;
        for (String word : words.subList(1, words.size())) {
            if (!word.regionMatches(true, 0, NAME, 0, NAME.length())) {
                throw new ScriptException("ERR Invalid metadata value given: " + word);
            }
            if (name != null) {
                throw new ScriptException("ERR Invalid metadata value, name argument was given multiple times");
            }
            name = word.substring(NAME.length());
        }
        if (name == null) {
            throw new ScriptException("ERR Library name was not given");
        }
        if (!isName(name)) {
            throw new ScriptException("ERR " + WRONG_NAME);
        }
        String engine = words.getFirst().substring(2);
        if (!engine.toLowerCase(Locale.ROOT).equals(ENGINE)) {
            throw new ScriptException("ERR Engine '" + engine + "' not found");
        }
        return new LibraryHeader(name, end);
    }

    /** Whether a library or a function may have this name. */
    static boolean isName(@Nullable String name) {
        return name != null && !name.isEmpty() && name.chars()
                .allMatch(c -> c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_');
    }

    /** As in Redis, a zero byte ends the text that is searched. */
    private static int lineEnd(byte[] source) {
        for (int i = 0; i < source.length && source[i] != 0; i++) {
            if (source[i] == '\n') {
                return i;
            }
        }
        return -1;
    }
}
