package io.varve.cluster.controller;

import java.util.List;

import io.varve.cluster.protocol.ControllerGroup;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;

/** Ratis's settings for a controller. Stateless. */
final class RaftSettings {
    /** A follower that misses the leader for this part of a lease begins an election. */
    private static final double ELECTION_MIN = 0.3;
    private static final double ELECTION_MAX = 0.6;
    /** Entries between snapshots: an entry has some 100 bytes. */
    static final long ENTRIES_PER_SNAPSHOT = 2_000;
    /** Ratis purges whole files of the log, so that a file has about the entries between two snapshots. */
    private static final long BYTES_PER_ENTRY = 128;
    private static final SizeInBytes PREALLOCATED = SizeInBytes.valueOf("64KB");
    private static final SizeInBytes BATCH = SizeInBytes.valueOf("512KB");
    private static final SizeInBytes WRITE_BUFFER = SizeInBytes.valueOf("1MB");
    private static final int THREADS = 4;

    private RaftSettings() {}

    static RaftProperties of(ControllerConfig config, long entriesPerSnapshot) {
        long lease = config.leaseMillis();
        RaftProperties properties = ControllerGroup.properties(lease);
        GrpcConfigKeys.Server.setHost(properties, config.bind().isEmpty() ? config.own().host() : config.bind());
        GrpcConfigKeys.Server.setPort(properties, config.own().port());
        RaftServerConfigKeys.setStorageDir(properties, List.of(config.directory().toFile()));
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, ControllerGroup.millis((long) (lease * ELECTION_MIN)));
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, ControllerGroup.millis((long) (lease * ELECTION_MAX)));
        RaftServerConfigKeys.Rpc.setRequestTimeout(properties, ControllerGroup.millis(lease));
        // Our own LeadershipCheck confirms reads (decision 48).
        RaftServerConfigKeys.Read.setOption(properties, RaftServerConfigKeys.Read.Option.DEFAULT);
        RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(properties, true);
        RaftServerConfigKeys.Snapshot.setAutoTriggerThreshold(properties, entriesPerSnapshot);
        RaftServerConfigKeys.Snapshot.setRetentionFileNum(properties, 2);
        RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(properties, true);
        RaftServerConfigKeys.Log.setPurgeGap(properties, 1);
        RaftServerConfigKeys.Log.setSegmentSizeMax(properties,
                SizeInBytes.valueOf(entriesPerSnapshot * BYTES_PER_ENTRY));
        RaftServerConfigKeys.Log.setPreallocatedSize(properties, PREALLOCATED);
        RaftServerConfigKeys.Log.Appender.setBufferByteLimit(properties, BATCH);
        RaftServerConfigKeys.Log.setWriteBufferSize(properties, WRITE_BUFFER);
        RaftServerConfigKeys.ThreadPool.setClientSize(properties, THREADS);
        return properties;
    }
}
