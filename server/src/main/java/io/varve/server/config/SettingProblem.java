package io.varve.server.config;

/**
 * What is wrong with the value that a setting has among the others. Immutable.
 *
 * @param name   the setting; empty if it is not one alone
 * @param value  as it may be shown
 * @param reason what is allowed, and why
 */
record SettingProblem(String name, String value, String reason) {
    /** From the message of an exception: {@code NAME VALUE: REASON}. */
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
