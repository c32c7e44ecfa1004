package io.varve.server.command.sortedset;

import io.varve.server.command.CommandContext;
import io.varve.server.command.sortedset.SortedSetRange.Kind;
import org.jspecify.annotations.Nullable;

/**
 * The parsed arguments of ZRANGE and its relatives: kind of range, direction, limit, and whether scores are requested.
 * Confined to its event loop; reused from command to command.
 */
final class SortedSetRangeRequest {
    private @Nullable Kind kind;
    private @Nullable Boolean direction;
    private boolean reversed;
    private boolean withScores;
    private long offset;
    private long limit = -1;

    /** Begins with the values that the command's name implies; null if an option may set them. */
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
     * @param key the argument before the two bounds
     * @param scored whether WITHSCORES is an option
     * @return false after an error was replied
     */
    boolean read(CommandContext context, int key, boolean scored) {
        for (int i = key + 3; i < context.argumentCount(); i++) {
            if (scored && context.argumentIs(i, "WITHSCORES")) {
                withScores = true;
            } else if (context.argumentIs(i, "LIMIT") && i + 2 < context.argumentCount()) {
                if (!readLimit(context, i)) {
                    return false;
                }
                i += 2;
            } else if (direction == null && context.argumentIs(i, "REV")) {
                direction = true;
            } else if (kind == null && context.argumentIs(i, "BYLEX")) {
                kind = Kind.MEMBER;
            } else if (kind == null && context.argumentIs(i, "BYSCORE")) {
                kind = Kind.SCORE;
            } else {
                context.syntaxError();
                return false;
            }
        }
        Kind by = kind == null ? Kind.RANK : kind;
        reversed = direction != null && direction;
        // Redis treats a limit of -1 as none, so ranks may have it.
        if (limit != -1 && by == Kind.RANK) {
            context.reply().error(
                    "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
            return false;
        }
        if (withScores && by == Kind.MEMBER) {
            context.reply().error("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
            return false;
        }
        return SortedSets.of(context).range().read(context, by, key + 1, reversed);
    }

    private boolean readLimit(CommandContext context, int word) {
        if (!context.requireLong(word + 1)) {
            return false;
        }
        offset = context.longValue();
        if (!context.requireLong(word + 2)) {
            return false;
        }
        limit = context.longValue();
        return true;
    }

    /** Computes the position of the range in a set. */
    SortedSetRange resolve(CommandContext context, SortedSetValue set) {
        SortedSetRange range = SortedSets.of(context).range();
        range.resolve(set, reversed);
        if (kind != null && kind != Kind.RANK) {
            range.cut(offset, limit, reversed);
        }
        return range;
    }

    /** Whether its bounds are ranks, which determine the number of members. */
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
