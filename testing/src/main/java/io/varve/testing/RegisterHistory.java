package io.varve.testing;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Checks whether reads and writes of one key are linearizable, if each write has a value of its own. Confined to one
 * thread.
 *
 * <p>After Gibbons and Korach (1997): the operations of a value form a zone, from the earliest response to the latest
 * invocation. If that interval is positive, the value must have been current throughout it. So two such zones must not
 * overlap, and no other zone may lie within one. The check takes O(n log n).
 */
public final class RegisterHistory {
    private final Map<String, Zone> zones = new HashMap<>();
    /** Values of unconfirmed writes, and when they were invoked. */
    private final Map<String, Long> unconfirmed = new HashMap<>();
    private final List<String> problems = new ArrayList<>();

    /** The operations of one value. Confined to the history. */
    private static final class Zone {
        private final String value;
        private long writeInvoked = Long.MAX_VALUE;
        private long firstResponse = Long.MAX_VALUE;
        private long lastInvocation = Long.MIN_VALUE;
        private long earliestReadResponse = Long.MAX_VALUE;

        Zone(String value) {
            this.value = value;
        }

        void add(long invoked, long responded) {
            firstResponse = Math.min(firstResponse, responded);
            lastInvocation = Math.max(lastInvocation, invoked);
        }

        boolean isForward() {
            return firstResponse < lastInvocation;
        }

        long from() {
            return Math.min(firstResponse, lastInvocation);
        }

        long to() {
            return Math.max(firstResponse, lastInvocation);
        }
    }

    private Zone zone(String value) {
        return zones.computeIfAbsent(value, Zone::new);
    }

    /**
     * A write whose outcome is not known: it may take effect at any later time, or never. It counts only if a read has
     * returned its value.
     */
    public void unconfirmedWrite(String value, long invoked) {
        unconfirmed.put(value, invoked);
    }

    /** A write that was answered. */
    public void write(String value, long invoked, long responded) {
        Zone zone = zone(value);
        zone.writeInvoked = invoked;
        zone.add(invoked, responded);
    }

    /** A read that was answered. */
    public void read(String value, long invoked, long responded) {
        Zone zone = zone(value);
        zone.earliestReadResponse = Math.min(zone.earliestReadResponse, responded);
        zone.add(invoked, responded);
    }

    /** What is not linearizable; empty if the history is. */
    public List<String> problems() {
        unconfirmed.forEach((value, invoked) -> {
            if (zones.containsKey(value)) {
                write(value, invoked, Long.MAX_VALUE);
            }
        });
        for (Zone zone : zones.values()) {
            if (zone.earliestReadResponse < zone.writeInvoked) {
                problems.add(zone.value + " was read before it was written");
            }
        }
        List<Zone> forward = zones.values().stream().filter(Zone::isForward)
                .sorted(Comparator.comparingLong(Zone::from)).toList();
        for (int i = 1; i < forward.size(); i++) {
            if (forward.get(i).from() < forward.get(i - 1).to()) {
                problems.add(forward.get(i - 1).value + " and " + forward.get(i).value + " were current together");
            }
        }
        for (Zone zone : zones.values()) {
            if (!zone.isForward()) {
                enclosing(forward, zone).ifPresent(around -> problems
                        .add(zone.value + " came and went while " + around.value + " was current"));
            }
        }
        return List.copyOf(problems);
    }

    private static Optional<Zone> enclosing(List<Zone> forward, Zone inner) {
        return forward.stream().filter(zone -> zone.from() < inner.from() && inner.to() < zone.to()).findFirst();
    }
}
