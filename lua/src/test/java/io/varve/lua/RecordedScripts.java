package io.varve.lua;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Scripts with their outcomes in Redis 7.0.15. A file has blocks that begin with {@code @@}: the script, then a line
 * with {@code -->}, then the outcome of {@link ScriptRunner#WRAPPER} in Redis with the script as its argument.
 * Stateless.
 */
final class RecordedScripts {
    /** A script and its outcome. */
    record Script(String source, String outcome) {}

    private RecordedScripts() {}

    /** The scripts of a file beside this class. Each char is a byte. */
    static List<Script> read(String file) {
        try (InputStream in = RecordedScripts.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalArgumentException("no file " + file);
            }
            List<Script> scripts = new ArrayList<>();
            for (String block : new String(in.readAllBytes(), StandardCharsets.ISO_8859_1).split("(?m)^@@")) {
                int arrow = block.indexOf("\n-->\n");
                if (arrow >= 0) {
                    String outcome = block.substring(arrow + 5);
                    scripts.add(new Script(block.substring(0, arrow),
                            outcome.substring(0, outcome.length() - 1)));
                }
            }
            return scripts;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
