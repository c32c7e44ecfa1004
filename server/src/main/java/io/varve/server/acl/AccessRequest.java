package io.varve.server.acl;

/**
 * A command as the check of a user's rules sees it: its number, keys and channels. Confined to the event loop; package
 * {@code command} implements it.
 */
public interface AccessRequest {
    /** The command reads the key. */
    int READ = 1;
    /** The command writes the key. */
    int WRITE = 2;

    /** The command's number in {@link CommandNames}. */
    int command();

    /** Whether every user may run it: AUTH, and the other commands that an unauthenticated client needs. */
    boolean isFree();

    /** Whether the first argument after the command's name is this word, ignoring case. */
    boolean isFirstArgument(String word);

    int keyCount();

    /** The argument number of this key. */
    int keyArgument(int index);

    long keyAddress(int index);

    int keyLength(int index);

    /** {@link #READ} and {@link #WRITE}, or 0 where it is neither. */
    int keyAccess(int index);

    int channelCount();

    /** The argument number of this channel. */
    int channelArgument(int index);

    long channelAddress(int index);

    int channelLength(int index);

    /** Whether the channels are patterns, which must equal one of the user's patterns byte for byte. */
    boolean areChannelsPatterns();
}
