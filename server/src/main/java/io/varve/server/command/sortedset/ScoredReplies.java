package io.varve.server.command.sortedset;

import io.varve.server.resp.ReplyWriter;

/** Replies members and their scores: flat in RESP2, in pairs in RESP3. Immutable: static methods only. */
final class ScoredReplies {
    private ScoredReplies() {}

    /** Writes the header for this many members. */
    static void head(ReplyWriter reply, long count, boolean withScores) {
        reply.array(withScores && !reply.resp3() ? 2 * count : count);
    }

    /** Writes one member. */
    static void member(ReplyWriter reply, long address, int length, double score, boolean withScores) {
        if (withScores && reply.resp3()) {
            reply.array(2);
        }
        reply.bulk(address, length);
        if (withScores) {
            reply.doubleValue(score);
        }
    }

    /** Writes the member at the cursor. */
    static void member(ReplyWriter reply, SortedSetValue set, boolean withScores) {
        member(reply, set.memberAddress(), set.memberLength(), set.score(), withScores);
    }

    /** Writes the members from one rank to another, exclusive, ascending or descending. */
    static void members(ReplyWriter reply, SortedSetValue set, long from, long to, boolean reversed,
            boolean withScores) {
        head(reply, to - from, withScores);
        boolean more = to > from && set.seek(reversed ? to - 1 : from);
        for (long left = to - from; left > 0 && more; left--) {
            member(reply, set, withScores);
            more = reversed ? set.previous() : set.next();
        }
    }
}
