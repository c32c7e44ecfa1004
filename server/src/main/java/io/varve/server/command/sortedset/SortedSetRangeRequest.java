package io.varve.server.command.sortedset;

import io.varve.server.command.Invocation;
import io.varve.server.command.sortedset.SortedSetRange.Kind;
import org.jspecify.annotations.Nullable;

/**
 * What ZRANGE and its relatives ask for: the kind of range, its direction, a part of it, whether scores are wanted. Confined
 * to its event loop; reused from command to command.
 */
final class SortedSetRangeRequest {
    private @Nullable Kind kind;
    private @Nullable Boolean direction;
    private boolean reversed;
    private boolean withScores;
    private long offset;
    private long limit = -1;

    /** Begins with what the command's name says already: null where an option may say it. */
    SortedSetRangeRequest begin(@Nullable Kind by, @Nullable Boolean downwards) {
        kind = by;
        direction = downwards;
        reversed = false;
        withScores = false;
        offset = 0;
        limit = -1;
        return this;
    }

    /**
     * @param key    the argument in front of the two with the bounds
     * @param scored whether WITHSCORES is an option
     * @return false after an error was replied
     */
    boolean read(Invocation call, int key, boolean scored) {
        for (int i = key + 3; i < call.argumentCount(); i++) {
            if (scored && call.argumentIs(i, "WITHSCORES")) {
                withScores = true;
            } else if (call.argumentIs(i, "LIMIT") && i + 2 < call.argumentCount()) {
                if (!readLimit(call, i)) {
                    return false;
                }
                i += 2;
            } else if (direction == null && call.argumentIs(i, "REV")) {
                direction = true;
            } else if (kind == null && call.argumentIs(i, "BYLEX")) {
                kind = Kind.MEMBER;
            } else if (kind == null && call.argumentIs(i, "BYSCORE")) {
                kind = Kind.SCORE;
            } else {
                call.syntaxError();
                return false;
            }
        }
        Kind by = kind == null ? Kind.RANK : kind;
        reversed = direction != null && direction;
        // To Redis a limit of -1 is none, so that ranks may have it.
        if (limit != -1 && by == Kind.RANK) {
            call.reply().error(
                    "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
            return false;
        }
        if (withScores && by == Kind.MEMBER) {
            call.reply().error("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
            return false;
        }
        return SortedSets.of(call).range().read(call, by, key + 1, reversed);
    }

    private boolean readLimit(Invocation call, int word) {
        if (!call.requireLong(word + 1)) {
            return false;
        }
        offset = call.longValue();
        if (!call.requireLong(word + 2)) {
            return false;
        }
        limit = call.longValue();
        return true;
    }

    /** Where the range lies in a set. */
    SortedSetRange lookIn(Invocation call, SortedSetValue set) {
        SortedSetRange range = SortedSets.of(call).range();
        range.lookIn(set, reversed);
        if (kind != null && kind != Kind.RANK) {
            range.cut(offset, limit, reversed);
        }
        return range;
    }

    /** Whether its bounds are ranks, so that how many members there are is known from them. */
    boolean isOfRanks() {
        return kind == null || kind == Kind.RANK;
    }

    /** Whether it begins at the upper end. */
    boolean reversed() {
        return reversed;
    }

    boolean withScores() {
        return withScores;
    }
}
