package io.varve.server.command.session;

import io.varve.server.blocking.BlockedClient;
import io.varve.server.clustering.KeyTransfer;
import io.varve.server.resp.ServedReply;
import org.jspecify.annotations.Nullable;

/**
 * The conditions that a client waits for: the answer of a parked command, a key, or slow subscribers. Single writer its
 * event loop, many readers of the volatile fields.
 */
public final class ClientWaits {
    private volatile @Nullable ParkedCommand parked;
    private volatile @Nullable BlockedClient blocked;
    private volatile long waitingArgumentBytes;
    private @Nullable ServedReply servedReply;
    private @Nullable BlockingDeadline blockingDeadline;
    private @Nullable KeyTransfer transfer;
    private int transfers;
    private long waitsToPublishSinceMillis;

    /** Sets what its MIGRATE waits for. */
    public void transfer(KeyTransfer value) {
        transfer = value;
        transfers++;
    }

    /** Removes and returns the transfer that its MIGRATE waited for; null if none has begun. */
    public @Nullable KeyTransfer takeTransfer() {
        KeyTransfer taken = transfer;
        transfer = null;
        return taken;
    }

    /** The transfers of its MIGRATE. */
    public int transfers() {
        return transfers;
    }

    /** Forgets what belongs to a command that has been answered. */
    public void commandAnswered() {
        blockingDeadline = null;
        transfer = null;
        transfers = 0;
    }

    /** Whether CLIENT LIST and INFO show it as waiting for a parked command. */
    public boolean waiting() {
        ParkedCommand now = parked;
        return now != null && now.isVisible() && !now.answered();
    }

    /** Its parked command; null if it does not wait. */
    public @Nullable ParkedCommand parkedCommand() {
        return parked;
    }

    public void parkedCommand(@Nullable ParkedCommand value) {
        parked = value;
    }

    /** Its wait for keys; null if it does not wait for any. */
    public @Nullable BlockedClient blockedClient() {
        return blocked;
    }

    public void blockedClient(@Nullable BlockedClient value) {
        blocked = value;
    }

    /**
     * Starts a wait for keys.
     *
     * @param argumentBytes size of the blocked command's arguments
     */
    public void block(BlockedClient value, long argumentBytes) {
        waitingArgumentBytes = argumentBytes;
        blocked = value;
    }

    /**
     * Sets the reply to its wait for keys. Called by the thread that has served it, under the lock of {@link
     * io.varve.server.blocking.BlockedKeys}.
     */
    public void servedReply(ServedReply value) {
        servedReply = value;
    }

    /** Removes and returns the reply to its wait for keys, which has ended; null if it has not been served. */
    public @Nullable ServedReply takeServedReply() {
        ServedReply served = servedReply;
        servedReply = null;
        return served;
    }

    /** Argument bytes of the command that waits for keys; 0 if there is none. */
    long waitingArgumentBytes() {
        return blocked == null ? 0 : waitingArgumentBytes;
    }

    /** Its unanswered command that may wait for keys; null if there is none. */
    public @Nullable BlockingDeadline blockingDeadline() {
        return blockingDeadline;
    }

    /** See {@link #blockingDeadline()}. */
    public void blockingDeadline(@Nullable BlockingDeadline value) {
        blockingDeadline = value;
    }

    /** Start of its wait to publish, ms since the epoch; 0 if it does not wait. */
    public long waitsToPublishSinceMillis() {
        return waitsToPublishSinceMillis;
    }

    /** See {@link #waitsToPublishSinceMillis()}. */
    public void waitsToPublishSinceMillis(long value) {
        waitsToPublishSinceMillis = value;
    }
}
