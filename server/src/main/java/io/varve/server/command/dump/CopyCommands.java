package io.varve.server.command.dump;

import java.util.List;

import io.varve.cluster.map.Member;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.ClusterView;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.keys.HeapKey;
import io.varve.server.rdb.CorruptPayloadException;
import io.varve.server.rdb.PayloadReader;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * VARVE.COPY, VARVE.UNCOPY and VARVE.COPYLEASE, by which the owner of hot keys keeps copies of them here. Immutable:
 * static handlers.
 *
 * <p>Log and replicas do not receive the copies, but their deletion.
 */
public final class CopyCommands {
    private static final int DATABASE = 0;
    private static final String NO_CLUSTER = "ERR This instance has cluster support disabled";

    private CopyCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(CommandBuilder.named("varve.copy").arity(5).group("generic").since("0.1.0").key(1)
                .access("OW update").flags(WRITE, DENYOOM).categories("@keyspace", "@dangerous")
                .complexity("O(N) where N is the size of the value, O(N*log(N)) for a sorted set")
                .summary("Stores a copy of another member's key").handler(CopyCommands::copy));
        table.add(CommandBuilder.named("varve.uncopy").arity(3).group("generic").since("0.1.0").key(1)
                .access("RM delete").flags(WRITE).categories("@keyspace", "@dangerous").complexity("O(1)")
                .summary("Deletes a copy of another member's key").handler(CopyCommands::uncopy));
        table.add(CommandBuilder.named("varve.copylease").arity(-2).group("generic").since("0.1.0")
                .flags(ADMIN).categories("@dangerous").tips("nondeterministic_output")
                .complexity("O(N) where N is the number of copies that are missing")
                .summary("Permits this member to serve its copies of another member's keys for a while")
                .handler(CopyCommands::lease));
    }

    /** VARVE.COPY key owner expire-at-millis payload. */
    private static void copy(CommandContext context) {
        context.withoutRecord();
        ClusterState cluster = context.server().cluster();
        if (cluster == null) {
            context.reply().error(NO_CLUSTER);
        } else {
            store(context, cluster);
        }
    }

    /** VARVE.UNCOPY key owner: there is no such key, or no copy shall be here. Also in a full cache. */
    private static void uncopy(CommandContext context) {
        context.withoutRecord();
        ClusterState cluster = context.server().cluster();
        if (cluster == null) {
            context.reply().error(NO_CLUSTER);
        } else {
            delete(context, cluster);
        }
    }

    /** Whether the key belongs to that member, and this one does not import it. The shard is locked. */
    private static boolean isOwner(ClusterState cluster, Key key, String sourceId) {
        ClusterView view = cluster.view();
        Member owner = view.owner(key.slot());
        return cluster.isControlled() && view.isLeased() && view.me().isPrimary() && owner != null
                && !view.isMe(owner) && owner.id().equals(sourceId) && !view.importing().containsKey(key.slot());
    }

    private static HeapKey name(Key key) {
        return HeapKey.of(DATABASE, key.address(), key.length());
    }

    private static void delete(CommandContext context, ClusterState cluster) {
        Key key = context.keyAt(0);
        String sourceId = context.argumentString(2);
        // It was a copy, and the next owner has sent none.
        boolean wasHere = cluster.copies().accepts(sourceId, context.client().id())
                && cluster.copies().remove(name(key), sourceId);
        ClusterView view = cluster.view();
        boolean isForeign = !view.isMe(view.owner(key.slot())) && !view.importing().containsKey(key.slot());
        if (wasHere && isForeign && context.session().delete(key)) {
            context.recordDeletion(key);
        }
        context.reply().ok();
    }

    private static void store(CommandContext context, ClusterState cluster) {
        Key key = context.keyAt(0);
        String sourceId = context.argumentString(2);
        if (!isOwner(cluster, key, sourceId) || !cluster.copies().accepts(sourceId, context.client().id())) {
            context.reply().error("ERR This member takes no copy of the key on this connection");
            return;
        }
        if (!context.requireLong(3)) {
            return;
        }
        long expireAtMillis = context.longValue();
        long payload = context.argumentAddress(4);
        int length = context.argumentLength(4);
        if (expireAtMillis < 0 || !PayloadReader.isIntact(payload, length)) {
            context.reply().error("ERR Bad data format");
            return;
        }
        RestoreReader reader = RestoreReader.of(context);
        try {
            reader.read(context, payload, length);
            if (expireAtMillis > 0 && expireAtMillis <= context.expiryMillis()) {
                context.session().delete(key);
                cluster.copies().remove(name(key), sourceId);
            } else {
                reader.store(key, expireAtMillis == 0 ? Item.NEVER : expireAtMillis);
                cluster.copies().add(name(key), sourceId, context.client().id());
            }
            context.reply().ok();
        } catch (CorruptPayloadException corrupt) {
            context.reply().error("ERR Bad data format");
        } catch (CacheFullException full) {
            throw reader.inAll(full);
        } finally {
            reader.release();
        }
    }

    /**
     * VARVE.COPYLEASE owner [stamp]: without a stamp, the owner begins to send copies on this connection. The reply has
     * the next stamp, and the names of copies that are missing here.
     */
    private static void lease(CommandContext context) {
        ClusterState cluster = context.server().cluster();
        if (cluster == null) {
            context.reply().error(NO_CLUSTER);
            return;
        }
        String sourceId = context.argumentString(1);
        long clientId = context.client().id();
        long stamp;
        if (context.argumentCount() == 2) {
            Member source = cluster.view().map().member(sourceId);
            if (source == null || !cluster.isControlled()) {
                context.reply().error(Errors.endingWith("ERR I don't know about node ", sourceId));
                return;
            }
            stamp = cluster.copies().begin(sourceId, clientId);
        } else if (!context.requireLong(2)) {
            return;
        } else if (cluster.copies().accepts(sourceId, clientId)) {
            stamp = cluster.copies().renew(sourceId, context.longValue());
        } else {
            context.reply().error("ERR Another connection sends the copies of this owner");
            return;
        }
        List<HeapKey> lost = cluster.copies().takeLost(sourceId);
        context.reply().array(1 + lost.size());
        context.reply().bulkAscii(Long.toString(stamp));
        lost.forEach(key -> context.reply().bulk(key.bytes()));
    }
}
