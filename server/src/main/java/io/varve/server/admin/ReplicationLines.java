package io.varve.server.admin;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.server.replication.Replica;
import io.varve.server.replication.ReplicaRole;
import io.varve.server.replication.Replicas;

/** The section "Replication" of INFO, with Redis's names. Stateless. */
final class ReplicationLines {
    private static final String NO_ID = "0".repeat(40);
    private static final int PERCENT = 100;

    private ReplicationLines() {}

    static void write(InfoSource source, InfoSection out) {
        Replicas replicas = source.replicas();
        List<Replica> all = replicas.all().stream().filter(replica -> !replica.hasEnded()).toList();
        ReplicaRole.Status status = source.role().status();
        out.head("Replication").field("role", status == null ? "master" : "slave");
        if (status != null) {
            ofReplica(source, status, out);
        }
        out.field("connected_slaves", all.size());
        if (source.config().minReplicasToWrite() > 0) {
            out.field("min_slaves_good_slaves", replicas.good());
        }
        for (int i = 0; i < all.size(); i++) {
            Replica replica = all.get(i);
            out.field("slave" + i, "ip=" + replica.host() + ",port=" + replica.port() + ",state="
                    + replica.state().text() + ",offset=" + replicas.acknowledgedBy(replica) + ",lag="
                    + TimeUnit.MILLISECONDS.toSeconds(replica.lagMillis()));
        }
        String previous = replicas.previousId();
        out.field("master_failover_state", source.role().failoverState()).field("master_replid", replicas.id())
                .field("master_replid2", previous == null ? NO_ID : previous)
                .field("master_repl_offset", replicas.offset()).field("second_repl_offset", replicas.previousEnd())
                .field("repl_backlog_active", replicas.isActive() ? 1 : 0)
                .field("repl_backlog_size", source.config().number("repl-backlog-size"))
                .field("repl_backlog_first_byte_offset", replicas.backlogStart())
                .field("repl_backlog_histlen", replicas.backlogLength());
    }

    private static void ofReplica(InfoSource source, ReplicaRole.Status status, InfoSection out) {
        boolean isUp = status.state() == ReplicaRole.State.CONNECTED;
        boolean isLoading = status.state() == ReplicaRole.State.SYNC;
        out.field("master_host", status.host()).field("master_port", status.port())
                .field("master_link_status", isUp ? "up" : "down")
                .field("master_last_io_seconds_ago", isUp ? seconds(status.receivedMillis()) : -1)
                .field("master_sync_in_progress", isLoading ? 1 : 0)
                .field("slave_read_repl_offset", source.replicas().offset())
                .field("slave_repl_offset", source.replicas().offset());
        if (isLoading) {
            long total = status.snapshotBytes();
            out.field("master_sync_total_bytes", total).field("master_sync_read_bytes", status.snapshotRead())
                    .field("master_sync_left_bytes", Math.max(0, total - status.snapshotRead()))
                    .field("master_sync_perc", total == 0 ? 0 : PERCENT * status.snapshotRead() / total)
                    .field("master_sync_last_io_seconds_ago", seconds(status.receivedMillis()));
        }
        if (!isUp) {
            out.field("master_link_down_since_seconds", seconds(status.downMillis())).field("master_link_failure",
                    status.failure());
        }
        out.field("master_refused_commands", status.refused())
                .field("slave_priority", source.config().number("replica-priority"))
                .field("slave_read_only", source.config().bool("replica-read-only") ? 1 : 0)
                .field("replica_announced", source.config().bool("replica-announced") ? 1 : 0);
    }

    private static long seconds(long millis) {
        return TimeUnit.MILLISECONDS.toSeconds(Math.max(0, millis));
    }
}
