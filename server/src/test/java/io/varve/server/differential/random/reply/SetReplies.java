package io.varve.server.differential.random.reply;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import io.varve.server.differential.DifferentialSide;
import io.varve.server.differential.random.ScriptStep;
import io.varve.server.testing.RawReply;

/** Compares replies with randomly chosen members of sets. Confined to the test's thread. */
public final class SetReplies {
    /** Sets can be listpacks since Redis 7.2: with the limit at 0, Varve reports the earlier encodings. */
    public static final String LISTPACK_ENTRIES_OF_REDIS_7_0 = "0";

    private SetReplies() {}

    /**
     * SRANDMEMBER: as many as the reference replies, all of them members, and distinct unless repetition was requested.
     */
    public static boolean areMembers(ScriptStep step, RawReply actual, RawReply expected, DifferentialSide reference)
            throws IOException {
        List<String> members = texts(actual, expected);
        List<String> theirs = texts(expected, expected);
        if (members == null || theirs == null || members.size() != theirs.size()) {
            return false;
        }
        for (String member : members) {
            if (!reference.call("SISMEMBER", step.arguments().get(1), member).text().equals("1")) {
                return false;
            }
        }
        boolean repeats = step.arguments().size() > 2 && step.arguments().get(2).startsWith("-");
        return repeats || Set.copyOf(members).size() == members.size();
    }

    /** SPOP: as many as the reference answers, and together with what is left they are what the reference had. */
    public static boolean arePopped(ScriptStep step, RawReply actual, RawReply expected, DifferentialSide varve,
            DifferentialSide reference) throws IOException {
        List<String> popped = texts(actual, expected);
        List<String> theirs = texts(expected, expected);
        if (popped == null || theirs == null || popped.size() != theirs.size()) {
            return false;
        }
        Set<String> ours = new TreeSet<>(popped);
        if (ours.equals(new TreeSet<>(theirs))) {
            return true;
        }
        String key = step.arguments().get(1);
        List<String> left = members(varve, key);
        List<String> theirsLeft = members(reference, key);
        ours.addAll(left);
        Set<String> before = new TreeSet<>(theirs);
        before.addAll(theirsLeft);
        return ours.equals(before) && left.size() == theirsLeft.size() && ours.size() == popped.size() + left.size()
                && varve.call("DEL", key).equals(reference.call("DEL", key));
    }

    private static List<String> members(DifferentialSide client, String key) throws IOException {
        return client.call("SMEMBERS", key).elements().stream().map(RawReply::text).toList();
    }

    /**
     * A bulk's text or the texts in an aggregate; null if it is neither, or another kind of reply than the expected
     * one.
     */
    @org.jspecify.annotations.Nullable
    private static List<String> texts(RawReply reply, RawReply expected) {
        if (reply.kind() != expected.kind() || reply.isNull()) {
            return null;
        }
        if (reply.kind() == '$') {
            return List.of(reply.text());
        }
        return reply.isAggregate() ? new ArrayList<>(reply.elements().stream().map(RawReply::text).toList()) : null;
    }
}
