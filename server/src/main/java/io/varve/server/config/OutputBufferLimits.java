package io.varve.server.config;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The limits of {@code client-output-buffer-limit}: the bytes that may be pending for clients of each class. Immutable.
 */
public final class OutputBufferLimits {
    private static final List<String> CLASSES = List.of("normal", "slave", "pubsub");
    private static final int NORMAL = 0;
    private static final int REPLICA = 1;
    private static final int PUBSUB = 2;

    /** Hard bytes, soft bytes and soft seconds of each class. */
    private final long[][] limits;

    private OutputBufferLimits(long[][] limits) {
        this.limits = limits;
    }

    static OutputBufferLimits parse(String value, String defaults) {
        long[][] limits = value.equals(defaults) ? new long[3][3] : parse(defaults, defaults).limits;
        String[] parts = value.trim().split("\\s+");
        if (parts.length == 0 || parts.length % 4 != 0) {
            throw new ConfigException("Wrong number of arguments in buffer limit configuration.");
        }
        for (int i = 0; i < parts.length; i += 4) {
            String name = parts[i].toLowerCase(Locale.ROOT);
            int which = CLASSES.indexOf(name.equals("replica") ? "slave" : name);
            if (which < 0) {
                throw new ConfigException("Invalid client class specified in buffer limit configuration.");
            }
            long[] fresh = {MemoryUnits.parse(parts[i + 1]), MemoryUnits.parse(parts[i + 2]),
                    MemoryUnits.parse(parts[i + 3])};
            if (Arrays.stream(fresh).anyMatch(amount -> amount < 0)) {
                throw new ConfigException("Error in hard, soft or soft_seconds setting in buffer limit configuration.");
            }
            limits[which] = fresh;
        }
        return new OutputBufferLimits(limits);
    }

    /**
     * The bytes at which a client is disconnected, or 0.
     *
     * @param listening whether the client has a subscription
     */
    public long hardBytes(boolean listening) {
        return of(listening)[0];
    }

    /** The bytes at which a client is disconnected after it has held them for {@link #softSeconds}, or 0. */
    public long softBytes(boolean listening) {
        return of(listening)[1];
    }

    public long softSeconds(boolean listening) {
        return of(listening)[2];
    }

    /** The bytes of the change stream by which a replica may be behind, or 0. */
    public long replicaHardBytes() {
        return limits[REPLICA][0];
    }

    /** The bytes by which a replica may be behind for {@link #replicaSoftSeconds}, or 0. */
    public long replicaSoftBytes() {
        return limits[REPLICA][1];
    }

    public long replicaSoftSeconds() {
        return limits[REPLICA][2];
    }

    private long[] of(boolean listening) {
        return limits[listening ? PUBSUB : NORMAL];
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < limits.length; i++) {
            text.append(i == 0 ? "" : " ").append(CLASSES.get(i));
            for (long amount : limits[i]) {
                text.append(' ').append(amount);
            }
        }
        return text.toString();
    }
}
