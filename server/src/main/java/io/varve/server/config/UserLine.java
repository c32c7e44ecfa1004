package io.varve.server.config;

import java.util.List;

/**
 * A {@code user} line of the configuration. Immutable. It may hold passwords: it is not to be shown.
 *
 * @param where the file and line, or the option
 * @param name  each char is a byte
 * @param rules as they stand
 */
public record UserLine(String where, String name, List<String> rules) {
    @Override
    public String toString() {
        return where + ": user " + name;
    }
}
