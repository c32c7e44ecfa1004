package io.varve.server.config;

import io.varve.server.system.Supervisor;
import org.jspecify.annotations.Nullable;

/**
 * Values of settings that promise what Varve does not keep, and that would change what the data means: they are refused.
 * Immutable: static methods only.
 */
final class UnsupportedValues {
    private static final String NO = "no";

    private UnsupportedValues() {}

    /**
     * Why a value is refused, and how to go on; null if it is not.
     *
     * @param supervised the setting: as in Redis, a server that a service manager starts stays in the foreground
     */
    static @Nullable String reason(Setting setting, String value, String supervised) {
        return switch (setting.name()) {
            case "save" -> value.isEmpty()
                    ? null
                    : "allowed is \"\": Varve writes no snapshots, and a restart begins without data; save \"\" accepts that";
            case "appendonly" -> value.equals(NO)
                    ? null
                    : "allowed is no: Varve writes no append-only file, and a restart begins without data; appendonly no accepts that";
            case "replicaof" -> value.isEmpty() || value.equalsIgnoreCase("no one")
                    ? null
                    : "allowed is \"\": Varve does not replicate, and this server would answer from data of its own; leave the line out";
            case "min-replicas-to-write" -> value.equals("0")
                    ? null
                    : "allowed is 0: Varve does not replicate, and no write would reach a replica";
            case "cluster-enabled" -> value.equals(NO)
                    ? null
                    : "allowed is no: Varve does not divide keys among servers; let the clients do so, or use one larger server";
            case "daemonize" -> value.equals(NO) || isSupervised(supervised)
                    ? null
                    : "allowed is no: the server stays in the foreground; let systemd start it (Type=notify, supervised systemd) or another"
                            + " supervisor, and override a file that says yes by --daemonize no";
            case "import-mode" -> value.equals(NO)
                    ? null
                    : "allowed is no: keys expire and are evicted at all times";
            default -> null;
        };
    }

    private static boolean isSupervised(String setting) {
        return switch (setting) {
            case "systemd", "upstart" -> true;
            case "auto" -> Supervisor.of(setting, System.getenv()).isThere();
            default -> false;
        };
    }
}
