package io.varve.server.pubsub;

import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/** What is to be published, where it lies. Immutable, and valid while its publisher's command runs. */
public final class Content {
    private final long address;
    private final int length;
    private final @Nullable ValueRun run;
    private final byte @Nullable [] bytes;

    private Content(long address, int length, @Nullable ValueRun run, byte @Nullable [] bytes) {
        this.address = address;
        this.length = length;
        this.run = run;
        this.bytes = bytes;
    }

    /**
     * Bytes of native memory.
     *
     * @param run the memory in which a large one arrived, held by the command: messages share it; null for one that is copied
     */
    public static Content at(long address, int length, @Nullable ValueRun run) {
        return new Content(address, length, run, null);
    }

    /** Bytes that messages may share, and that are not to be changed. */
    public static Content of(byte[] bytes) {
        return new Content(0, bytes.length, null, bytes);
    }

    long address() {
        return address;
    }

    int length() {
        return length;
    }

    @Nullable
    ValueRun run() {
        return run;
    }

    /** The bytes, for as long as one likes. */
    byte[] toArray() {
        return bytes == null ? Memory.toArray(address, length) : bytes;
    }
}
