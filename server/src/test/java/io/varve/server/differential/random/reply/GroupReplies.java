package io.varve.server.differential.random.reply;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.varve.server.testing.RawReply;

/**
 * Compares replies about consumer groups: times may differ a little, and fields are left out that Redis 7.0 does not
 * have or computes in another way than Redis 7.2. Immutable.
 */
public final class GroupReplies {
    private static final long TOLERANCE_MILLIS = 60_000;
    private static final long FIRST_TIME = 1_000_000_000_000L;
    private static final int PENDING_FIELDS = 4;
    private static final int PENDING_IDLE = 2;
    private static final Set<String> LEFT_OUT = Set.of("inactive", "active-time", "entries-read", "lag");

    private GroupReplies() {}

    public static boolean sameButForTimes(RawReply actual, RawReply expected) {
        return same(actual, expected, false);
    }

    private static boolean same(RawReply actual, RawReply expected, boolean isMillis) {
        if (actual.kind() != expected.kind()) {
            return false;
        }
        if (actual.isInteger()) {
            boolean isTime = isMillis || actual.integer() >= FIRST_TIME && expected.integer() >= FIRST_TIME;
            return actual.integer() == expected.integer()
                    || isTime && Math.abs(actual.integer() - expected.integer()) <= TOLERANCE_MILLIS;
        }
        if (!actual.isAggregate() || actual.isNull() || expected.isNull()) {
            return actual.equals(expected);
        }
        List<RawReply> ours = compared(actual.elements());
        List<RawReply> theirs = compared(expected.elements());
        if (ours.size() != theirs.size()) {
            return false;
        }
        boolean isPending = ours.size() == PENDING_FIELDS && ours.get(PENDING_IDLE).isInteger();
        for (int i = 0; i < ours.size(); i++) {
            boolean isIdle = i > 0 && ours.get(i - 1).text().equals("idle") || isPending && i == PENDING_IDLE;
            if (!same(ours.get(i), theirs.get(i), isIdle)) {
                return false;
            }
        }
        return true;
    }

    /** The elements without the pairs that are left out. */
    private static List<RawReply> compared(List<RawReply> elements) {
        List<RawReply> compared = new ArrayList<>();
        for (int i = 0; i < elements.size(); i++) {
            RawReply element = elements.get(i);
            if (element.kind() == '$' && LEFT_OUT.contains(element.text())) {
                i++;
            } else {
                compared.add(element);
            }
        }
        return compared;
    }
}
