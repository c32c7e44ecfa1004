package io.varve.server.command.varve;

import java.util.BitSet;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.server.clustering.ClusterState;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;

import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** VARVE.PIN and VARVE.UNPIN: keys that are never evicted. Immutable: static handlers. */
public final class PinCommands {
    private static final String MOVING = "TRYAGAIN The hash slot moves: its keys are pinned and unpinned before or after";

    private PinCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(keys("varve.pin", "Protects keys from eviction until they are unpinned").handler(PinCommands::pin));
        table.add(keys("varve.unpin", "Ends the protection of keys from eviction").handler(PinCommands::unpin));
    }

    private static CommandBuilder keys(String name, String summary) {
        return CommandBuilder.named(name).arity(-2).group("generic").since("0.1.0").flags(WRITE, FAST).keys(1, -1, 1)
                .access("RW update").categories("@keyspace")
                .tips("request_policy:multi_shard", "response_policy:agg_sum")
                .complexity("O(N) where N is the number of keys").summary(summary);
    }

    /** Pins all keys that exist, or none if there is an error. */
    private static void pin(CommandContext context) {
        if (isMoving(context)) {
            context.reply().error(MOVING);
            return;
        }
        CacheSession session = context.session();
        Item item = context.item();
        long maxBytes = isRepeated(context) ? Long.MAX_VALUE : context.server().config().pinMaxBytes();
        BitSet changed = new BitSet();
        int pinned = 0;
        for (int i = 0; i < context.keyCount(); i++) {
            if (!session.peek(context.keyAt(i), item)) {
                continue;
            }
            boolean isNew = !session.isPinned(item);
            if (!session.pinItem(item, maxBytes)) {
                undo(context, changed);
                context.reply().error("ERR pinned keys would take more than pin-max-bytes, which allows " + maxBytes
                        + " bytes");
                return;
            }
            changed.set(i, isNew);
            pinned++;
        }
        noteChanges(context, changed.cardinality());
        context.reply().integer(pinned);
    }

    /** Whether keys were pinned before: on the primary, before a restart, or where their slot comes from. */
    private static boolean isRepeated(CommandContext context) {
        ClusterState cluster = context.server().cluster();
        return context.client().connection().isReplay()
                || cluster != null && cluster.isControlled() && context.client().isAsking();
    }

    /** Whether the keys are being copied to another member, which is told of no pin that comes after the copy. */
    private static boolean isMoving(CommandContext context) {
        ClusterState cluster = context.server().cluster();
        return cluster != null && cluster.isControlled() && !context.client().connection().isReplay()
                && cluster.view().migrating().containsKey(context.keyAt(0).slot());
    }

    private static void undo(CommandContext context, BitSet pinned) {
        for (int i = pinned.nextSetBit(0); i >= 0; i = pinned.nextSetBit(i + 1)) {
            if (context.session().peek(context.keyAt(i), context.item())) {
                context.session().unpinItem(context.item());
            }
        }
    }

    private static void unpin(CommandContext context) {
        if (isMoving(context)) {
            context.reply().error(MOVING);
            return;
        }
        int unpinned = 0;
        for (int i = 0; i < context.keyCount(); i++) {
            if (context.session().peek(context.keyAt(i), context.item())
                    && context.session().unpinItem(context.item())) {
                unpinned++;
            }
        }
        noteChanges(context, unpinned);
        context.reply().integer(unpinned);
    }

    /** The values have not changed: clients that track or watch the keys are not told. */
    private static void noteChanges(CommandContext context, int count) {
        if (count > 0) {
            context.countChanges(count);
            context.changedSilently();
        }
    }
}
