package io.varve.proxy;

import java.util.Locale;
import java.util.regex.Pattern;

import io.varve.cluster.protocol.ControllerAddress;
import io.varve.proxy.map.SeedMember;
import io.varve.server.config.ConfigException;
import io.varve.server.config.MemoryUnits;
import org.jspecify.annotations.Nullable;

/** The settings of the proxy with their defaults and what is allowed. Immutable. */
public enum ProxySetting {
    // @formatter:off
    PORT("6379", number(0, 65_535)),
    TLS_PORT("0", number(0, 65_535)),
    TLS_CERT_FILE("", text("a file")),
    TLS_KEY_FILE("", text("a file")),
    BIND("127.0.0.1", text("addresses of this machine")),
    MEMBERS("", members()),
    MEMBER_KIND("auto", choice("auto", "cluster", "plain")),
    CONTROLLERS("", controllers()),
    MERGE_WINDOW_MS("0", number(0, 20)),
    HOT_KEY_COPIES("yes", choice("yes", "no")),
    REQUIREPASS("", secret()),
    MEMBER_USER("", text("a user of the members")),
    MEMBER_PASSWORD("", secret()),
    MEMBER_TLS("no", choice("yes", "no")),
    MEMBER_TLS_CA_CERT_FILE("", text("a file")),
    MEMBER_TLS_CERT_FILE("", text("a file")),
    MEMBER_TLS_KEY_FILE("", text("a file")),
    MEMBER_CONNECTIONS("1", number(1, 64)),
    MEMBER_CONNECT_TIMEOUT_MS("1000", number(1, 600_000)),
    MEMBER_REPLY_TIMEOUT_MS("5000", number(1, 3_600_000)),
    MAX_DEDICATED_CONNECTIONS("1000", number(0, 1_000_000)),
    MAP_REFRESH_MS("10000", number(100, 3_600_000)),
    MAX_PIPELINE("1024", number(1, 1_000_000)),
    MAXCLIENTS("10000", number(1, 1_000_000)),
    PROTO_MAX_BULK_LEN("512mb", memory(1 << 20, 1L << 30)),
    CLIENT_QUERY_BUFFER_LIMIT("64mb", memory(1 << 20, 1L << 30)),
    CLIENT_OUTPUT_BUFFER_LIMIT("256mb", memory(1 << 20, 1L << 40)),
    IO_THREADS(Integer.toString(Math.max(1, Runtime.getRuntime().availableProcessors() / 2)), number(1, 128)),
    TRANSPORT("auto", choice("auto", "epoll", "io_uring", "nio")),
    TCP_BACKLOG("511", number(1, 65_535)),
    LOGLEVEL("notice", choice("debug", "verbose", "notice", "warning", "nothing")),
    LOGFILE("", text("a file")),
    PIDFILE("", text("a file"));
    // @formatter:on

    private final String initial;
    // Its predicate keeps no state.
    @SuppressWarnings("ImmutableEnumChecker")
    private final Values values;

    /** What a setting may be. Immutable. */
    private record Values(String allowed, boolean isSecret, java.util.function.Predicate<String> accepts) {}

    ProxySetting(String initial, Values values) {
        this.initial = initial;
        this.values = values;
    }

    private static Values number(long min, long max) {
        Pattern digits = Pattern.compile("\\d{1,10}");
        return new Values("a number from " + min + " to " + max, false, value -> digits.matcher(value).matches()
                && Long.parseLong(value) >= min && Long.parseLong(value) <= max);
    }

    private static Values memory(long min, long max) {
        return new Values("an amount of memory from " + MemoryUnits.human(min) + " to " + MemoryUnits.human(max), false,
                value -> MemoryUnits.parse(value) >= min && MemoryUnits.parse(value) <= max);
    }

    private static Values choice(String... words) {
        return new Values("one of " + String.join(", ", words), false, java.util.List.of(words)::contains);
    }

    private static Values text(String what) {
        return new Values(what, false, _ -> true);
    }

    private static Values secret() {
        return new Values("a password", true, _ -> true);
    }

    private static Values controllers() {
        return new Values("HOST:PORT,...", false, value -> {
            try {
                return value.isEmpty() || !ControllerAddress.parseList(value).isEmpty();
            } catch (IllegalArgumentException _) {
                return false;
            }
        });
    }

    private static Values members() {
        return new Values("HOST:PORT,... or HOST:PORT*WEIGHT,...", false, value -> {
            try {
                SeedMember.parse(value);
                return true;
            } catch (ConfigException _) {
                return false;
            }
        });
    }

    /** The name in files and options. */
    public String settingName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The setting of a name; null if there is none. */
    static @Nullable ProxySetting find(String name) {
        for (ProxySetting setting : values()) {
            if (setting.settingName().equalsIgnoreCase(name)) {
                return setting;
            }
        }
        return null;
    }

    /** The default. */
    public String initial() {
        return initial;
    }

    /** The allowed values in words. */
    public String allowed() {
        return values.allowed();
    }

    boolean isSecret() {
        return values.isSecret();
    }

    boolean accepts(String value) {
        return values.accepts().test(value);
    }
}
