package io.varve.server.command.persistence;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.server.command.ServerState;
import io.varve.server.persistence.SnapshotFile;
import io.varve.server.persistence.SnapshotStatus;
import io.varve.server.replication.Replica;
import io.varve.server.replication.ReplicaOutput;
import io.varve.server.replication.Replicas;
import io.varve.server.system.NativeMemory;

/**
 * Sends snapshots to replicas, on the thread that saves snapshots: to all at once that wait when it begins.
 * Thread-safe.
 *
 * <p>If the snapshot fails in the middle, for example because a database was flushed, the replicas are disconnected;
 * they come back and ask again.
 */
public final class FullSynchronization implements Replicas.Synchronizer {
    private final ServerState server;
    private final Replicas replicas;
    private final SnapshotStatus status;

    public FullSynchronization(ServerState server) {
        this.server = server;
        replicas = server.replicas();
        status = new SnapshotStatus(0, server.ticker()::nanoTime);
    }

    @Override
    public void begin() {
        // If another snapshot is being saved, the replicas' periodic work tries again.
        server.snapshots().start(false, this::send, _ -> {});
    }

    private void send() throws IOException {
        List<Replica> toMark = replicas.waiting(true);
        if (!toMark.isEmpty()) {
            ReplicaOutput[] output = new ReplicaOutput[1];
            new SnapshotWriter(server, status, () -> {
                replicas.prepare();
                output[0] = new ReplicaOutput(toMark, replicas.timeoutMillis());
                return output[0];
            }, false, server.snapshots()::isCancelled).write(() -> {},
                    () -> replicas.begin(toMark, output[0].head()));
        }
        List<Replica> byLength = replicas.waiting(false);
        if (!byLength.isEmpty()) {
            sendFile(byLength);
        }
    }

    /** For replicas that have to know the length in advance: old ones, and tools. */
    private void sendFile(List<Replica> group) throws IOException {
        Path file = Path.of(server.config().text("dir"), "temp-replication-" + ProcessHandle.current().pid() + ".rdb");
        try (NativeMemory memory = new NativeMemory()) {
            new SnapshotWriter(server, status, () -> {
                replicas.prepare();
                return SnapshotFile.create(file);
            }, false, server.snapshots()::isCancelled).write(() -> {}, () -> replicas.begin(group, null));
            MemorySegment bytes = memory.map(file);
            group.forEach(replica -> replica.announceLength(bytes.byteSize()));
            group.forEach(replica -> replica.offer(bytes));
            for (Replica replica : group) {
                if (replica.awaitRead(replicas.timeoutMillis())) {
                    replica.endSnapshot();
                }
            }
        } catch (IOException | RuntimeException | Error failed) {
            group.forEach(Replica::end);
            throw failed;
        } finally {
            Files.deleteIfExists(file);
        }
    }
}
