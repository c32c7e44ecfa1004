package io.varve.server.config;

import java.util.List;

/**
 * A {@code user} line of the configuration. Immutable. It may hold passwords and must not be shown.
 *
 * @param where the file and line, or the option
 * @param name the name; each char is a byte
 * @param rules as written
 */
public record UserLine(String where, String name, List<String> rules) {
    @Override
    public String toString() {
        return where + ": user " + name;
    }
}
