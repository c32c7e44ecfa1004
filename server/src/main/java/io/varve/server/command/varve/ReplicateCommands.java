package io.varve.server.command.varve;

import java.util.List;
import java.util.Map;

import io.varve.cluster.map.Member;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.ReplicatedKeys;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.keys.HeapKey;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** VARVE.REPLICATE and VARVE.COPIES: hot keys with copies at other members. Immutable: static handlers. */
public final class ReplicateCommands {
    private static final int DATABASE = 0;

    private ReplicateCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(CommandBuilder.named("varve.replicate").arity(-2).group("generic").since("0.1.0").flags(WRITE, FAST)
                .key(1).access("RW update").categories("@keyspace")
                .complexity("O(N*log(N)) where N is the number of members")
                .summary("Keeps copies of a key at other members, or returns the members that have one")
                .handler(ReplicateCommands::replicate));
        table.add(CommandBuilder.named("varve.copies").arity(1).group("generic").since("0.1.0")
                .categories("@keyspace", "@dangerous")
                .tips("request_policy:all_shards", "nondeterministic_output")
                .complexity("O(N) where N is the number of keys with copies, at most 1024")
                .summary("Returns the keys of this member that have copies, with the members that serve them")
                .handler(ReplicateCommands::copies));
    }

    /** The member; null after an error was replied. */
    private static @Nullable ClusterState member(CommandContext context) {
        ClusterState cluster = context.server().cluster();
        if (cluster == null || !cluster.isControlled()) {
            context.reply().error("ERR copies at other members need a cluster with controllers");
            return null;
        }
        return cluster;
    }

    private static void replicate(CommandContext context) {
        ClusterState cluster = member(context);
        if (cluster == null) {
            return;
        }
        HeapKey key = HeapKey.of(DATABASE, context.keyAt(0).address(), context.keyAt(0).length());
        if (context.argumentCount() == 2) {
            replyAddresses(context, cluster.replicated().holders(key));
            return;
        }
        if (context.argumentCount() > 3) {
            context.syntaxError();
            return;
        }
        if (!CurveCommands.requireInRange(context, 2, "number of copies", 0, ReplicatedKeys.MAX_COPIES, "")) {
            return;
        }
        int count = (int) context.longValue();
        if (count == 0) {
            cluster.replicated().remove(key);
        } else if (!cluster.replicated().put(key, count)) {
            context.reply().error("ERR this member has " + ReplicatedKeys.MAX_KEYS + " keys with copies already");
            return;
        }
        context.reply().integer(ReplicatedKeys.choose(cluster.view(), key, count).size());
    }

    private static void copies(CommandContext context) {
        ClusterState cluster = member(context);
        if (cluster == null) {
            return;
        }
        Map<HeapKey, Integer> keys = cluster.replicated().all();
        context.reply().array(keys.size());
        for (HeapKey key : keys.keySet()) {
            context.reply().array(2);
            context.reply().bulk(key.bytes());
            replyAddresses(context, cluster.replicated().holders(key));
        }
    }

    private static void replyAddresses(CommandContext context, List<Member> members) {
        context.reply().array(members.size());
        members.forEach(member -> context.reply().bulkAscii(member.address()));
    }
}
