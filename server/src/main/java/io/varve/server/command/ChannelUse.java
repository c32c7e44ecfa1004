package io.varve.server.command;

/**
 * Which arguments of a command are channels, for the check of a user's rules. Immutable.
 *
 * @param first    the argument at which the first of them stands
 * @param last     the last one; counted from the end of the arguments if negative
 * @param patterns whether they are patterns of channels
 */
public record ChannelUse(int first, int last, boolean patterns) {
    int count(int argumentCount) {
        int end = last < 0 ? argumentCount + last : Math.min(last, argumentCount - 1);
        return Math.max(0, end - first + 1);
    }
}
