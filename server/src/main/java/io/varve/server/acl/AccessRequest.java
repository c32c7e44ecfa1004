package io.varve.server.acl;

/**
 * What a command wants, for the check of a user's rules. Confined to the event loop; the room of commands supplies it.
 */
public interface AccessRequest {
    /** The key is looked at. */
    int READ = 1;
    /** The key is changed. */
    int WRITE = 2;

    /** The command's number in {@link CommandNames}. */
    int command();

    /** Whether every user may run it: AUTH and what else one who is nobody yet needs. */
    boolean isFree();

    /** Whether the argument behind the command's name is this word, in any case. */
    boolean isFirstArgument(String word);

    int keyCount();

    /** The number of the argument that this key is. */
    int keyArgument(int index);

    long keyAddress(int index);

    int keyLength(int index);

    /** {@link #READ} and {@link #WRITE}, or 0 where it is neither. */
    int keyAccess(int index);

    int channelCount();

    /** The number of the argument that this channel is. */
    int channelArgument(int index);

    long channelAddress(int index);

    int channelLength(int index);

    /** Whether the channels are patterns, which have to be the user's own, letter for letter. */
    boolean areChannelsPatterns();
}
