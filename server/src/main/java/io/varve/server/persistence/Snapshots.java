package io.varve.server.persistence;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/** Saves snapshots of the key space, one at a time. Thread-safe; no method but {@link #close} waits. */
public interface Snapshots extends AutoCloseable {
    /** A task that runs in place of a save. */
    @FunctionalInterface
    interface Task {
        /** It is going to run, on a thread of its own. The calling thread is the one that starts it. */
        default void begins() {}

        /** @throws Exception if it fails; the message is for clients */
        void run() throws Exception;
    }

    /** Where the bytes of one snapshot go. Confined to the thread that writes it. */
    interface Output extends AutoCloseable {
        /** Writes native memory; may wait. */
        void write(MemorySegment bytes) throws IOException;

        /** Writes the checksum of all bytes before it, or zero for none. */
        void writeChecksum(boolean isWanted) throws IOException;

        /** The snapshot is complete. */
        void commit() throws IOException;

        /** Ends it. Without {@link #commit}, what was written is void. */
        @Override
        void close() throws IOException;
    }

    /** Begins outputs. */
    @FunctionalInterface
    interface Outputs {
        Output create() throws IOException;
    }

    /**
     * Begins a save.
     *
     * @param onEnd called by the saving thread with the reason of a failure, or null
     * @return false if one is running, or the server is closing
     */
    boolean start(Consumer<@Nullable String> onEnd);

    /**
     * Saves, if wanted, then runs a task before another save can begin.
     *
     * @param saves whether to save first
     * @param onEnd as for {@link #start(Consumer)}
     * @return as for {@link #start(Consumer)}
     */
    boolean start(boolean saves, Task then, Consumer<@Nullable String> onEnd);

    /**
     * Begins a save now, or when the running one has ended.
     *
     * @param onEnd as for {@link #start(Consumer)}
     */
    void request(Consumer<@Nullable String> onEnd);

    /** Begins a save if one of the save rules asks for it. Called periodically. */
    void saveIfDue();

    /** Whether a shutdown saves unless it is told otherwise: there are save rules. */
    boolean savesAtShutdown();

    /**
     * Decides whether {@link #close} saves. Without this call it saves if there are save rules.
     *
     * @param saves whether to save changes that were made since the last save
     */
    void atShutdown(boolean saves);

    /** Cancels what is running, and no other save begins: the data in memory is not whole any more. */
    void abandon();

    /** Whether the running save or task is to end without a result, because the server is closing. */
    boolean isCancelled();

    /** Cancels what is running, and saves if a shutdown has to; no other save begins. */
    @Override
    void close();
}
