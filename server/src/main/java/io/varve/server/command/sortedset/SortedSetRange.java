package io.varve.server.command.sortedset;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.resp.DoubleReader;

/**
 * A range of a sorted set by rank, score or member, and its position in a given set. Confined to its event loop; reused
 * from command to command.
 *
 * <p>Each kind of range is reduced to two ranks that enclose its members. Counting, replying, storing and removing then
 * use ranks only.
 */
final class SortedSetRange {
    /** Whether the bounds are ranks, scores or members. */
    enum Kind {
        RANK, SCORE, MEMBER
    }

    /** Position of a member bound relative to all members. */
    private enum Place {
        BELOW_ALL, AT_MEMBER, ABOVE_ALL
    }

    private static final String NOT_A_SCORE = "ERR min or max is not a float";
    private static final String NOT_A_MEMBER = "ERR min or max not valid string range item";

    private Kind kind = Kind.RANK;
    private final Bound min = new Bound();
    private final Bound max = new Bound();
    private long start;
    private long end;
    private long from;
    private long to;

    /** One end of the range. Confined to its event loop. */
    private static final class Bound {
        private double score;
        private boolean exclusive;
        private Place place = Place.BELOW_ALL;
        private long address;
        private int length;

        /** @return whether the argument is a score; a parenthesis in front makes it exclusive */
        private boolean readScore(CommandContext context, int argument) {
            long text = context.argumentAddress(argument);
            int textLength = context.argumentLength(argument);
            int skipped = textLength > 0 && Memory.getByte(text) == '(' ? 1 : 0;
            exclusive = skipped == 1;
            score = DoubleReader.parseBound(text + skipped, textLength - skipped);
            return !Double.isNaN(score);
        }

        /**
         * @return whether the argument is a member after a bracket (inclusive) or parenthesis (exclusive), or - or +
         */
        private boolean readMember(CommandContext context, int argument) {
            long text = context.argumentAddress(argument);
            int textLength = context.argumentLength(argument);
            if (textLength == 0) {
                return false;
            }
            address = text + 1;
            length = textLength - 1;
            byte first = Memory.getByte(text);
            return switch (first) {
                case '[', '(' -> {
                    place = Place.AT_MEMBER;
                    exclusive = first == '(';
                    yield true;
                }
                case '-', '+' -> {
                    place = first == '-' ? Place.BELOW_ALL : Place.ABOVE_ALL;
                    // As in Redis, which tests for the zero at the end of a string.
                    yield length == 0 || Memory.getByte(address) == 0;
                }
                default -> false;
            };
        }

        private long rankOfMember(SortedSetValue set, boolean orEqual) {
            return switch (place) {
                case BELOW_ALL -> 0;
                case ABOVE_ALL -> set.size();
                case AT_MEMBER -> set.rankOfMember(address, length, orEqual);
            };
        }
    }

    /**
     * Reads the bounds from two arguments.
     *
     * @param reversed whether they name the upper end first, or ranks from the upper end
     * @return false after an error was replied
     */
    boolean read(CommandContext context, Kind by, int argument, boolean reversed) {
        kind = by;
        int lower = reversed && by != Kind.RANK ? argument + 1 : argument;
        int upper = reversed && by != Kind.RANK ? argument : argument + 1;
        switch (by) {
            case RANK -> {
                if (!context.requireLong(lower)) {
                    return false;
                }
                start = context.longValue();
                if (!context.requireLong(upper)) {
                    return false;
                }
                end = context.longValue();
            }
            case SCORE -> {
                if (!min.readScore(context, lower) || !max.readScore(context, upper)) {
                    context.reply().error(NOT_A_SCORE);
                    return false;
                }
            }
            case MEMBER -> {
                if (!min.readMember(context, lower) || !max.readMember(context, upper)) {
                    context.reply().error(NOT_A_MEMBER);
                    return false;
                }
            }
        }
        return true;
    }

    /** Computes the range's position in a set, {@link #from} and {@link #to}. */
    void resolve(SortedSetValue set, boolean reversed) {
        switch (kind) {
            case RANK -> resolveRanks(set.size(), reversed);
            case SCORE -> {
                from = set.rankOfScore(min.score, min.exclusive);
                to = set.rankOfScore(max.score, !max.exclusive);
            }
            case MEMBER -> {
                from = min.rankOfMember(set, min.exclusive);
                to = max.rankOfMember(set, !max.exclusive);
            }
        }
        to = Math.max(from, to);
    }

    private void resolveRanks(long size, boolean reversed) {
        long first = Math.max(0, start < 0 ? start + size : start);
        long last = Math.min(size - 1, end < 0 ? end + size : end);
        if (first > last) {
            from = 0;
            to = 0;
        } else {
            from = reversed ? size - 1 - last : first;
            to = reversed ? size - first : last + 1;
        }
    }

    /** The rank of the first member of the range. */
    long from() {
        return from;
    }

    /** The rank after the last member; equal to {@link #from} if the range is empty. */
    long to() {
        return to;
    }

    /**
     * Reduces the range according to LIMIT.
     *
     * @param offset number of members to skip at its beginning; negative: all
     * @param limit maximum number of members; negative: unlimited
     * @param reversed whether the beginning is the upper end
     */
    void cut(long offset, long limit, boolean reversed) {
        long length = offset < 0 ? 0 : Math.max(0, to - from - offset);
        long kept = limit < 0 ? length : Math.min(limit, length);
        if (kept == 0) {
            to = from;
        } else if (reversed) {
            to -= offset;
            from = to - kept;
        } else {
            from += offset;
            to = from + kept;
        }
    }
}
