package io.varve.server.command.spec;

/**
 * The arguments of a command that are channels, for ACL checks. Immutable.
 *
 * @param first the first channel argument
 * @param last the last channel argument; counted from the end of the arguments if negative
 * @param patterns whether they are channel patterns
 */
public record ChannelUse(int first, int last, boolean patterns) {
    public int count(int argumentCount) {
        int end = last < 0 ? argumentCount + last : Math.min(last, argumentCount - 1);
        return Math.max(0, end - first + 1);
    }
}
