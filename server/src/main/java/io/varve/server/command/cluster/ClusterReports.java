package io.varve.server.command.cluster;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotRange;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.ClusterView;
import io.varve.server.clustering.NodesText;
import io.varve.server.command.CommandContext;
import io.varve.server.command.Errors;
import io.varve.server.keys.KeyHashSlots;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * The CLUSTER commands that report: NODES, SLOTS, SHARDS, INFO and others. Immutable: static handlers.
 *
 * <p>There is no cluster bus, so there are no links, no messages and no failure reports.
 */
final class ClusterReports {
    private static final String HEALTHY = "online";

    private ClusterReports() {}

    static void nodes(CommandContext context, ClusterState cluster) {
        context.reply().verbatim("txt", NodesText.of(cluster.view()));
    }

    static void myId(CommandContext context, ClusterState cluster) {
        context.reply().bulkAscii(cluster.view().me().id());
    }

    /** The ID of the primary: it stands for its shard, as long as it is the primary. */
    static void myShardId(CommandContext context, ClusterState cluster) {
        Member me = cluster.view().me();
        String primaryId = me.primaryId();
        context.reply().bulkAscii(primaryId == null ? me.id() : primaryId);
    }

    static void info(CommandContext context, ClusterState cluster) {
        ClusterView view = cluster.view();
        long owners = view.members().stream().filter(member -> !view.map().slots(member).isEmpty()).count();
        int assigned = view.assignedSlots();
        context.reply().verbatim("txt", "cluster_state:" + (view.isHealthy() ? "ok" : "fail")
                + "\r\ncluster_slots_assigned:" + assigned + "\r\ncluster_slots_ok:" + assigned
                + "\r\ncluster_slots_pfail:0\r\ncluster_slots_fail:0\r\ncluster_known_nodes:" + view.members().size()
                + "\r\ncluster_size:" + owners + "\r\ncluster_current_epoch:" + view.map().epoch()
                + "\r\ncluster_my_epoch:" + view.map().epoch()
                + "\r\ncluster_stats_messages_sent:0\r\ncluster_stats_messages_received:0"
                + "\r\ntotal_cluster_links_buffer_limit_exceeded:0\r\n" + cluster.controlledLines());
    }

    static void links(CommandContext context, ClusterState cluster) {
        context.reply().array(0);
    }

    static void failureReports(CommandContext context, ClusterState cluster) {
        if (member(context, cluster.view(), 2, "Unknown node ") != null) {
            context.reply().integer(0);
        }
    }

    static void replicas(CommandContext context, ClusterState cluster) {
        ClusterView view = cluster.view();
        Member primary = member(context, view, 2, "Unknown node ");
        if (primary == null) {
            return;
        }
        if (!primary.isPrimary()) {
            context.reply().error("ERR The specified node is not a master");
            return;
        }
        List<Member> replicas = view.map().replicas(primary);
        context.reply().array(replicas.size());
        replicas.forEach(replica -> context.reply().bulkAscii(NodesText.line(view, replica)));
    }

    /** The member that an argument names; null after an error was replied. */
    static @Nullable Member member(CommandContext context, ClusterView view, int argument, String unknown) {
        String id = context.argumentString(argument);
        for (Member member : view.members()) {
            if (member.id().equals(id)) {
                return member;
            }
        }
        context.reply().error(Errors.endingWith("ERR " + unknown, id));
        return null;
    }

    static void keySlot(CommandContext context, ClusterState cluster) {
        context.reply().integer(
                KeyHashSlots.INSTANCE.slot(context.argumentAddress(2), context.argumentLength(2)));
    }

    // --- slots

    /** Slots with their owner and its replicas. Immutable. */
    private record Part(SlotRange slots, Member primary) {}

    static void slots(CommandContext context, ClusterState cluster) {
        ClusterView view = cluster.view();
        List<Part> parts = new ArrayList<>();
        for (Member member : view.members()) {
            view.map().slots(member).forEach(range -> parts.add(new Part(range, member)));
        }
        parts.sort(Comparator.comparingInt(part -> part.slots().first()));
        ReplyWriter reply = context.reply();
        reply.array(parts.size());
        for (Part part : parts) {
            List<Member> replicas = view.map().replicas(part.primary());
            reply.array(3L + replicas.size());
            reply.integer(part.slots().first());
            reply.integer(part.slots().last());
            replyEndpoint(reply, part.primary());
            replicas.forEach(replica -> replyEndpoint(reply, replica));
        }
    }

    private static void replyEndpoint(ReplyWriter reply, Member member) {
        reply.array(4);
        reply.bulkAscii(NodesText.host(member));
        reply.integer(member.port());
        reply.bulkAscii(member.id());
        reply.map(0);
    }

    static void shards(CommandContext context, ClusterState cluster) {
        ClusterView view = cluster.view();
        List<Member> primaries = view.members().stream().filter(Member::isPrimary).toList();
        ReplyWriter reply = context.reply();
        reply.array(primaries.size());
        for (Member primary : primaries) {
            reply.map(2);
            reply.bulkAscii("slots");
            List<SlotRange> ranges = view.map().slots(primary);
            reply.array(2L * ranges.size());
            for (SlotRange range : ranges) {
                reply.integer(range.first());
                reply.integer(range.last());
            }
            reply.bulkAscii("nodes");
            List<Member> replicas = view.map().replicas(primary);
            reply.array(1L + replicas.size());
            replyNode(context, view, primary);
            replicas.forEach(replica -> replyNode(context, view, replica));
        }
    }

    private static void replyNode(CommandContext context, ClusterView view, Member member) {
        ReplyWriter reply = context.reply();
        reply.map(7);
        reply.bulkAscii("id");
        reply.bulkAscii(member.id());
        reply.bulkAscii("port");
        reply.integer(member.port());
        reply.bulkAscii("ip");
        reply.bulkAscii(NodesText.host(member));
        reply.bulkAscii("endpoint");
        reply.bulkAscii(NodesText.host(member));
        reply.bulkAscii("role");
        reply.bulkAscii(member.isPrimary() ? "master" : "replica");
        reply.bulkAscii("replication-offset");
        reply.integer(view.isMe(member) ? context.server().replicas().offset() : 0);
        reply.bulkAscii("health");
        reply.bulkAscii(HEALTHY);
    }

    // --- keys

    static void countKeys(CommandContext context, ClusterState cluster) {
        if (context.requireLong(2)) {
            long slot = context.longValue();
            if (slot < 0 || slot >= HashSlot.COUNT) {
                context.reply().error("ERR Invalid slot");
            } else {
                context.reply().integer(SlotKeys.count(context, (int) slot));
            }
        }
    }

    static void keys(CommandContext context, ClusterState cluster) {
        if (!context.requireLong(2)) {
            return;
        }
        long slot = context.longValue();
        if (!context.requireLong(3)) {
            return;
        }
        long count = context.longValue();
        if (slot < 0 || slot >= HashSlot.COUNT || count < 0) {
            context.reply().error("ERR Invalid slot or number of keys");
        } else {
            SlotKeys.reply(context, (int) slot, count);
        }
    }
}
