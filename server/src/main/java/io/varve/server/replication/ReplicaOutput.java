package io.varve.server.replication;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;

import io.varve.server.persistence.Snapshots;
import io.varve.server.rdb.Crc64;
import io.varve.server.system.NativeMemory;

/**
 * Sends a snapshot to replicas while it is written, without a file. It is as fast as the slowest one. Confined to the
 * thread that writes it.
 *
 * <p>Its length is not known in advance: it ends with a random mark, which the head announces.
 */
public final class ReplicaOutput implements Snapshots.Output {
    private static final int MARK_BYTES = 20;

    private final List<Replica> group;
    private final long timeoutMillis;
    private final String mark;
    private final NativeMemory memory = new NativeMemory();
    private long checksum;
    private boolean committed;

    /** @param timeoutMillis how long a replica may read nothing before it is disconnected */
    public ReplicaOutput(List<Replica> group, long timeoutMillis) {
        this.group = group;
        this.timeoutMillis = timeoutMillis;
        byte[] random = new byte[MARK_BYTES];
        new SecureRandom().nextBytes(random);
        mark = HexFormat.of().formatHex(random);
    }

    /** The line that precedes the snapshot. */
    public String head() {
        return "$EOF:" + mark + "\r\n";
    }

    @Override
    public void write(MemorySegment bytes) throws IOException {
        checksum = Crc64.update(checksum, bytes.address(), bytes.byteSize());
        send(bytes);
    }

    private void send(MemorySegment bytes) throws IOException {
        group.forEach(replica -> replica.offer(bytes));
        boolean isAnyLeft = false;
        for (Replica replica : group) {
            isAnyLeft |= replica.awaitRead(timeoutMillis);
        }
        if (!isAnyLeft) {
            throw new IOException("all replicas that wait for it have disconnected");
        }
    }

    @Override
    public void writeChecksum(boolean isWanted) throws IOException {
        MemorySegment bytes = memory.allocate(Long.BYTES);
        bytes.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN).putLong(0, isWanted ? checksum : 0);
        send(bytes);
    }

    @Override
    public void commit() throws IOException {
        MemorySegment end = memory.allocate(mark.length());
        end.asByteBuffer().put(mark.getBytes(StandardCharsets.US_ASCII));
        send(end);
        committed = true;
        group.forEach(Replica::endSnapshot);
    }

    @Override
    public void close() {
        if (!committed) {
            group.forEach(Replica::end);
        }
        memory.close();
    }

    @Override
    public String toString() {
        return group.size() + " replicas";
    }
}
