package io.varve.server.config;

/**
 * A setting whose value is invalid in combination with the others. Immutable.
 *
 * @param name the setting; empty if the problem does not concern a single one
 * @param value the value, without secrets
 * @param reason the allowed values, and the reason
 */
record SettingProblem(String name, String value, String reason) {
    /** Parses the message of an exception: {@code NAME VALUE: REASON}. */
    static SettingProblem of(String message) {
        int blank = message.indexOf(' ');
        int colon = message.indexOf(": ");
        boolean isNamed = blank > 0 && colon > blank && Settings.find(message.substring(0, blank)) != null;
        return isNamed
                ? new SettingProblem(message.substring(0, blank), message.substring(blank + 1, colon),
                        message.substring(colon + 2))
                : new SettingProblem("", "", message);
    }

    String line() {
        return name.isEmpty() ? reason : name + " " + value + ": " + reason;
    }
}
