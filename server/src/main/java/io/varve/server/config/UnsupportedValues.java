package io.varve.server.config;

import io.varve.server.system.Supervisor;
import org.jspecify.annotations.Nullable;

/**
 * Rejects values of settings that request a feature that Varve does not have, and that would change the meaning of the
 * data. Immutable: static methods only.
 */
final class UnsupportedValues {
    private static final String NO = "no";

    private UnsupportedValues() {}

    /**
     * The reason why a value is rejected, and a remedy; null if it is accepted.
     *
     * @param supervised the setting: as in Redis, a server that a service manager starts stays in the foreground
     */
    static @Nullable String reason(Setting setting, String value, String supervised) {
        return switch (setting.name()) {
            case "dbfilename" -> isFileName(value)
                    ? null
                    : "expected the name of a file in the folder dir, without a path";
            case "appendfilename", "appenddirname" -> isFileName(value)
                    ? null
                    : "expected a name in the folder dir, without a path";
            case "replica-read-only" -> value.equals("yes")
                    ? null
                    : "expected yes: a replica takes no writes; REPLICAOF NO ONE makes it a primary";
            case "daemonize" -> value.equals(NO) || isSupervised(supervised)
                    ? null
                    : "expected no: the server stays in the foreground; start it with systemd (Type=notify,"
                            + " supervised systemd) or another"
                            + " supervisor, and override a file that says yes by --daemonize no";
            case "import-mode" -> value.equals(NO)
                    ? null
                    : "expected no: Varve always expires and evicts keys";
            default -> null;
        };
    }

    private static boolean isFileName(String value) {
        return !value.isEmpty() && !value.equals(".") && !value.equals("..") && value.indexOf('/') < 0
                && value.indexOf('\0') < 0;
    }

    private static boolean isSupervised(String setting) {
        return switch (setting) {
            case "systemd", "upstart" -> true;
            case "auto" -> Supervisor.of(setting, System.getenv()).isPresent();
            default -> false;
        };
    }
}
