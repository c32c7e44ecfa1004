package io.varve.server.command;

import io.varve.server.command.batch.Batch;
import io.varve.server.command.session.Client;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/** Runs the commands of a script, one by one, under the locks that the script holds. Confined to its event loop. */
public interface NestedCommands {
    /** What a script may do. Confined to its event loop. */
    interface Permissions {
        /** The error for a command that may write; null if the script may call it. */
        @Nullable
        String refusalOfWrite();

        /** Whether the script has all shards locked, not only those of its declared keys. */
        boolean hasAllShards();

        /** Whether its commands may use memory although it is full. */
        boolean allowsOom();

        /** Whether it may use keys of this hash slot: those of a script with a header are in one, unless it says so. */
        boolean acceptsSlot(int slot);

        /** Whether a command of the script has changed something. */
        boolean hasChanged();

        /**
         * Called at intervals while a command of the script waits. Other connections may have a turn.
         *
         * @throws io.varve.lua.LuaKilled if the script must not go on
         */
        void check();
    }

    /**
     * The error for a command that the script may not run; null if it may run.
     *
     * @param batch holds the command alone
     */
    @Nullable
    String refusal(Client client, Batch batch, Permissions permissions);

    /**
     * Runs the command that was checked last, and writes its reply, which may be an error.
     *
     * @throws io.varve.memory.item.CacheFullException if it needs memory, and nothing has been changed: the script has
     *     to run again
     * @throws io.varve.server.command.flash.KeyNotResidentException if it needs keys of the flash tier, and nothing has
     *     been changed: the script has to run again
     * @throws NoBufferException if its reply finds no memory: the script has to run again if nothing has been changed
     */
    void run(CommandContext script, Batch batch, ReplyWriter reply, Permissions permissions);

    /** Whether this is a replica that lost its primary, and its clients must not get old data. */
    boolean isStale(Client client);

    /** The error for all writes while a disk cannot be written or replicas are missing; null if there is none. */
    @Nullable
    String misconfigured();

    /** Whether the client's user may run the command; null if it is unknown, or has a wrong number of arguments. */
    @Nullable
    Boolean isPermitted(Client client, Batch batch);

    /** Shows monitors the command that runs a script. */
    void announce(CommandContext script);

    /** Whether there was no memory for the script's command. */
    boolean isOutOfMemory();

    /**
     * Frees memory for the reply of a script, under the locks of the script.
     *
     * @param needed the bytes that the reply needed before it failed
     * @return false if there is none
     */
    boolean makeRoomForReply(CommandContext script, NoBufferException none, long needed);
}
