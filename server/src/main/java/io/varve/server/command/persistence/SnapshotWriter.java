package io.varve.server.command.persistence;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import io.varve.memory.PointInTimeScan;
import io.varve.server.command.ServerState;
import io.varve.server.persistence.PendingBytes;
import io.varve.server.persistence.SnapshotStatus;
import io.varve.server.persistence.Snapshots;
import io.varve.server.system.NativeMemory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a snapshot in RDB format that holds the key space as it was at one moment, while commands go on (decision
 * 43). Confined to the thread that writes it.
 *
 * <p>Between two index buckets the scan releases the shard's lock if it has held it for {@link #SLICE_NANOS}, and
 * sleeps, as maintenance does (decision 10). The thread encodes only while few bytes wait for the disk.
 */
final class SnapshotWriter {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotWriter.class);
    private static final long SLICE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
    private static final long REST_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    /** Bytes that wait for the disk before the scan pauses. */
    private static final long MAX_PENDING_BYTES = 1 << 20;
    /** How often a save begins again because a database was flushed, or the flash tier failed. */
    private static final int MAX_RESTARTS = 10;

    private final ServerState server;
    private final SnapshotStatus status;
    private final Snapshots.Outputs outputs;
    private final boolean isLogBase;
    private final BooleanSupplier cancelled;

    /**
     * @param outputs begins an output for each attempt
     * @param isLogBase whether it is the base of the log
     * @param cancelled whether to give up
     */
    SnapshotWriter(ServerState server, SnapshotStatus status, Snapshots.Outputs outputs, boolean isLogBase,
            BooleanSupplier cancelled) {
        this.server = server;
        this.status = status;
        this.outputs = outputs;
        this.isLogBase = isLogBase;
        this.cancelled = cancelled;
    }

    /**
     * Writes the snapshot.
     *
     * @param before called before each attempt
     * @param atMoment called at the moment whose state it holds, under the locks of all shards
     */
    void write(Runnable before, Runnable atMoment) throws IOException {
        int attempt = 1;
        before.run();
        while (!isWritten(atMoment)) {
            if (attempt++ > MAX_RESTARTS) {
                throw new IOException("databases were flushed, or the flash tier failed, during each of "
                        + MAX_RESTARTS + " attempts");
            }
            before.run();
        }
    }

    /** @return false if a flush aborted the scan, or the file needs another version */
    private boolean isWritten(Runnable atMoment) throws IOException {
        try (Snapshots.Output output = outputs.create();
                PendingBytes pending = new PendingBytes();
                SnapshotEncoder encoder = new SnapshotEncoder(server, pending, isLogBase, atMoment);
                PointInTimeScan scan = begin(encoder)) {
            boolean isTimed = scan.timedHashes() > 0 || status.hasTimedOnFlash();
            writeHead(encoder, scan, isTimed, output);
            boolean more;
            do {
                if (cancelled.getAsBoolean()) {
                    throw new IOException("the server is closing");
                }
                more = scan.scan(SLICE_NANOS);
                requireEncoded(encoder);
                if (encoder.hasTimedOnFlash() && !isTimed) {
                    status.timedOnFlash(true);
                    return false;
                }
                status.progress(encoder.keys());
                if (!more || pending.bytes() >= MAX_PENDING_BYTES) {
                    pending.writeTo(output);
                } else {
                    LockSupport.parkNanos(this, REST_NANOS);
                }
            } while (more);
            if (scan.isAborted()) {
                return false;
            }
            status.timedOnFlash(encoder.hasTimedOnFlash());
            encoder.end();
            pending.writeTo(output);
            output.writeChecksum(server.config().bool("rdbchecksum"));
            output.commit();
            LOG.info("Saved {} keys to {}", encoder.keys(), output);
            return true;
        }
    }

    /** Not between the run of a primary's commands and their relay. */
    private PointInTimeScan begin(SnapshotEncoder encoder) {
        server.replicas().relaying().lock();
        try {
            return server.cache().scanAtOneMoment(encoder);
        } finally {
            server.replicas().relaying().unlock();
        }
    }

    private void writeHead(SnapshotEncoder encoder, PointInTimeScan scan, boolean isTimed, Snapshots.Output output)
            throws IOException {
        long keys = 0;
        for (int i = 0; i < server.cache().databaseCount(); i++) {
            keys += scan.size(i);
        }
        status.expects(keys);
        try (NativeMemory memory = new NativeMemory(); PendingBytes head = new PendingBytes()) {
            encoder.head(scan, isTimed, memory, head);
            head.writeTo(output);
        }
    }

    private static void requireEncoded(SnapshotEncoder encoder) throws IOException {
        Throwable failure = encoder.failure();
        if (failure != null) {
            throw new IOException("an item could not be encoded", failure);
        }
    }
}
