package io.varve.server.command.cluster;

import java.io.IOException;
import java.util.BitSet;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.ClusterView;
import io.varve.server.clustering.ManualFailover;
import io.varve.server.clustering.NodesFile;
import io.varve.server.command.CommandContext;
import io.varve.server.command.session.ParkedCommand;
import org.jspecify.annotations.Nullable;

/**
 * The CLUSTER commands that change this member's own view, if no controller owns the map. Immutable: static handlers.
 */
final class SlotChanges {
    private static final String MEMBERS_BY_TOOL = "ERR Varve has no cluster bus: join and remove members with"
            + " `varve cluster`";
    private static final String CONTROLLED = "ERR The controllers own the slot map (cluster-controllers): change it"
            + " with `varve cluster`";
    private static final String WRONG_SLOT = "ERR Invalid or out of range slot";
    private static final int NONE = -1;

    private SlotChanges() {}

    /** Whether controllers own the map; replies the error then. */
    private static boolean isRefused(CommandContext context, ClusterState cluster) {
        if (cluster.isControlled()) {
            context.reply().error(CONTROLLED);
        }
        return cluster.isControlled();
    }

    /** Slot number in an argument; {@link #NONE} after an error was replied. */
    private static int slot(CommandContext context, int argument) {
        if (!context.isLong(argument) || context.longValue() < 0 || context.longValue() >= HashSlot.COUNT) {
            context.reply().error(WRONG_SLOT);
            return NONE;
        }
        return (int) context.longValue();
    }

    /** Changes the view. When the reply leaves, no command runs that began under an older one. */
    private static void change(CommandContext context, ClusterState cluster, ClusterState.LocalChange change) {
        cluster.change(change);
        if (!context.isInTransaction()) {
            // A transaction has locked the shards, so other commands do not run.
            cluster.awaitOlderCommands();
        }
    }

    // --- slots of this member

    static void addSlots(CommandContext context, ClusterState cluster) {
        changeSlots(context, cluster, slots(context), true);
    }

    static void addRanges(CommandContext context, ClusterState cluster) {
        changeSlots(context, cluster, ranges(context), true);
    }

    static void deleteSlots(CommandContext context, ClusterState cluster) {
        changeSlots(context, cluster, slots(context), false);
    }

    static void deleteRanges(CommandContext context, ClusterState cluster) {
        changeSlots(context, cluster, ranges(context), false);
    }

    /** The named slots as the pairs first and last; null after an error was replied. */
    private static int @Nullable [] slots(CommandContext context) {
        int[] pairs = new int[2 * (context.argumentCount() - 2)];
        for (int i = 0; i < pairs.length; i++) {
            int slot = slot(context, 2 + i / 2);
            if (slot == NONE) {
                return null;
            }
            pairs[i] = slot;
        }
        return pairs;
    }

    private static int @Nullable [] ranges(CommandContext context) {
        int[] pairs = new int[context.argumentCount() - 2];
        if (pairs.length % 2 != 0) {
            context.wrongArgumentCount();
            return null;
        }
        for (int i = 0; i < pairs.length; i++) {
            int slot = slot(context, 2 + i);
            if (slot == NONE) {
                return null;
            }
            pairs[i] = slot;
            if (i % 2 == 1 && pairs[i - 1] > slot) {
                context.reply().error("ERR start slot number " + pairs[i - 1] + " is greater than end slot number "
                        + slot);
                return null;
            }
        }
        return pairs;
    }

    private static void changeSlots(CommandContext context, ClusterState cluster, int @Nullable [] pairs,
            boolean adds) {
        if (pairs == null || isRefused(context, cluster)) {
            return;
        }
        String[] error = {""};
        change(context, cluster, local -> {
            // Under the lock of the state, so that another client cannot take a slot in between.
            BitSet chosen = new BitSet(HashSlot.COUNT);
            error[0] = choose(cluster.view(), pairs, adds, chosen);
            if (error[0].isEmpty()) {
                chosen.stream().forEach(slot -> {
                    if (adds) {
                        local.own(slot);
                    } else {
                        local.owner(slot, null);
                    }
                });
            }
        });
        if (error[0].isEmpty()) {
            context.reply().ok();
        } else {
            context.reply().error(error[0]);
        }
    }

    /** @return the error; empty if the slots can be changed */
    private static String choose(ClusterView view, int[] pairs, boolean adds, BitSet chosen) {
        for (int i = 0; i < pairs.length; i += 2) {
            for (int slot = pairs[i]; slot <= pairs[i + 1]; slot++) {
                boolean owned = view.owner(slot) != null;
                if (owned == adds) {
                    return "ERR Slot " + slot + (adds ? " is already busy" : " is already unassigned");
                }
                if (chosen.get(slot)) {
                    return "ERR Slot " + slot + " specified multiple times";
                }
                chosen.set(slot);
            }
        }
        return "";
    }

    static void flushSlots(CommandContext context, ClusterState cluster) {
        if (isRefused(context, cluster)) {
            return;
        }
        if (context.cache().size(0) > 0) {
            context.reply().error("ERR DB must be empty to perform CLUSTER FLUSHSLOTS.");
            return;
        }
        change(context, cluster, local -> {
            ClusterView view = cluster.view();
            for (int slot = 0; slot < HashSlot.COUNT; slot++) {
                if (view.isMe(view.owner(slot))) {
                    local.owner(slot, null);
                }
            }
        });
        context.reply().ok();
    }

    // --- slots that move

    static void setSlot(CommandContext context, ClusterState cluster) {
        if (cluster.isControlled() && context.argumentCount() == 8 && context.argumentIs(3, "IMPORTING")) {
            beginImport(context, cluster);
            return;
        }
        if (isRefused(context, cluster)) {
            return;
        }
        if (!cluster.view().me().isPrimary()) {
            context.reply().error("ERR Please use SETSLOT only with masters.");
            return;
        }
        int slot = slot(context, 2);
        if (slot == NONE) {
            return;
        }
        boolean named = context.argumentCount() == 5;
        if (named && context.argumentIs(3, "MIGRATING")) {
            migrate(context, cluster, slot);
        } else if (named && context.argumentIs(3, "IMPORTING")) {
            importSlot(context, cluster, slot);
        } else if (named && context.argumentIs(3, "NODE")) {
            assign(context, cluster, slot);
        } else if (context.argumentCount() == 4 && context.argumentIs(3, "STABLE")) {
            change(context, cluster, local -> {
                local.migrate(slot, null);
                local.importFrom(slot, null);
            });
            context.reply().ok();
        } else {
            context.reply().error("ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP");
        }
    }

    /**
     * CLUSTER SETSLOT slot IMPORTING source epoch generation attempt: the source of a slot, which the map of that epoch
     * declares as migrating, begins to send its keys on this connection. When the reply leaves, no command of an
     * earlier attempt runs. With an older map, this member might delete the keys when it learns of an abort.
     *
     * <p>The reply is EMPTY if the slot is known to have no key here: then the source need not look for some.
     */
    private static void beginImport(CommandContext context, ClusterState cluster) {
        int slot = slot(context, 2);
        if (slot == NONE || !context.requireLong(5)) {
            return;
        }
        long epoch = context.longValue();
        if (!context.requireLong(6)) {
            return;
        }
        long generation = context.longValue();
        if (!context.requireLong(7)) {
            return;
        }
        String sourceId = context.argumentString(4);
        ClusterView view = cluster.view();
        Member source = view.importing().get(slot);
        if (source == null || !source.id().equals(sourceId) || view.map().epoch() < epoch
                || context.isInTransaction()) {
            context.reply().error("ERR This member does not import hash slot " + slot + " from " + sourceId);
        } else if (cluster.imports().begin(slot, sourceId, generation, context.longValue(), context.client().id())) {
            cluster.awaitOlderCommands();
            if (cluster.imports().takeEmpty(slot) && !cluster.copies().hasHad(slot)) {
                context.reply().simple("EMPTY");
            } else {
                context.reply().ok();
            }
        } else {
            context.reply().error("ERR A later attempt imports hash slot " + slot);
        }
    }

    private static void migrate(CommandContext context, ClusterState cluster, int slot) {
        ClusterView view = cluster.view();
        if (!view.isMe(view.owner(slot))) {
            context.reply().error("ERR I'm not the owner of hash slot " + slot);
            return;
        }
        Member target = primary(context, view, "I don't know about node ");
        if (target != null) {
            change(context, cluster, local -> local.migrate(slot, target));
            context.reply().ok();
        }
    }

    private static void importSlot(CommandContext context, ClusterState cluster, int slot) {
        ClusterView view = cluster.view();
        if (view.isMe(view.owner(slot))) {
            context.reply().error("ERR I'm already the owner of hash slot " + slot);
            return;
        }
        Member source = primary(context, view, "I don't know about node ");
        if (source != null) {
            change(context, cluster, local -> local.importFrom(slot, source));
            context.reply().ok();
        }
    }

    private static void assign(CommandContext context, ClusterState cluster, int slot) {
        ClusterView view = cluster.view();
        Member owner = primary(context, view, "Unknown node ");
        if (owner == null) {
            return;
        }
        boolean empty = SlotKeys.count(context, slot) == 0;
        if (view.isMe(view.owner(slot)) && !view.isMe(owner) && !empty) {
            context.reply().error("ERR Can't assign hashslot " + slot
                    + " to a different node while I still hold keys for this hash slot.");
            return;
        }
        change(context, cluster, local -> {
            if (empty) {
                local.migrate(slot, null);
            }
            if (view.isMe(owner) && view.importing().containsKey(slot)) {
                local.importFrom(slot, null);
                local.epoch(view.map().epoch() + 1);
            }
            local.owner(slot, owner.id());
        });
        context.reply().ok();
    }

    /** The primary that the last argument names; null after an error was replied. */
    private static @Nullable Member primary(CommandContext context, ClusterView view, String unknown) {
        Member member = ClusterReports.member(context, view, 4, unknown);
        if (member != null && !member.isPrimary()) {
            context.reply().error("ERR Target node is not a master");
            return null;
        }
        return member;
    }

    // --- the member itself

    static void setEpoch(CommandContext context, ClusterState cluster) {
        if (isRefused(context, cluster) || !context.requireLong(2)) {
            return;
        }
        long epoch = context.longValue();
        ClusterView view = cluster.view();
        if (epoch < 0) {
            context.reply().error("ERR Invalid config epoch specified: " + epoch);
        } else if (view.members().size() > 1) {
            context.reply().error("ERR The user can assign a config epoch only when the node does not know any other"
                    + " node.");
        } else if (view.map().epoch() != 0) {
            context.reply().error("ERR Node config epoch is already non-zero");
        } else {
            change(context, cluster, local -> local.epoch(epoch));
            context.reply().ok();
        }
    }

    static void bumpEpoch(CommandContext context, ClusterState cluster) {
        if (isRefused(context, cluster)) {
            return;
        }
        long epoch = cluster.view().map().epoch();
        if (epoch == 0) {
            change(context, cluster, local -> local.epoch(1));
            context.reply().simple("BUMPED 1");
        } else {
            context.reply().simple("STILL " + epoch);
        }
    }

    static void reset(CommandContext context, ClusterState cluster) {
        boolean hard = context.argumentCount() == 3 && context.argumentIs(2, "HARD");
        if (isTooLong(context)) {
            return;
        }
        if (context.argumentCount() == 3 && !hard && !context.argumentIs(2, "SOFT")) {
            context.syntaxError();
            return;
        }
        if (isRefused(context, cluster)) {
            return;
        }
        if (cluster.view().me().isPrimary() && context.cache().size(0) > 0) {
            context.reply().error("ERR CLUSTER RESET can't be called with master nodes containing keys");
            return;
        }
        change(context, cluster, local -> {
            local.reset(hard ? NodesFile.newId() : cluster.view().me().id());
            if (hard) {
                local.epoch(0);
            }
        });
        context.reply().ok();
    }

    /** Whether there is more than one option; replies the error then. */
    private static boolean isTooLong(CommandContext context) {
        if (context.argumentCount() > 3) {
            context.reply().error("ERR unknown subcommand or wrong number of arguments for '"
                    + context.argumentString(1) + "'. Try CLUSTER HELP.");
        }
        return context.argumentCount() > 3;
    }

    static void saveConfig(CommandContext context, ClusterState cluster) {
        try {
            cluster.save();
            context.reply().ok();
        } catch (IOException failed) {
            context.reply().error("ERR error saving the cluster node config: " + failed.getMessage());
        }
    }

    // --- other members

    static void meet(CommandContext context, ClusterState cluster) {
        context.reply().error(MEMBERS_BY_TOOL);
    }

    static void forget(CommandContext context, ClusterState cluster) {
        if (ClusterReports.member(context, cluster.view(), 2, "Unknown node ") != null) {
            context.reply().error(MEMBERS_BY_TOOL);
        }
    }

    /** Replies when the roles have changed, or not. Redis replies at once. */
    static void failover(CommandContext context, ClusterState cluster) {
        if (isTooLong(context)) {
            return;
        }
        ManualFailover failover = cluster.manualFailover();
        if (context.argumentCount() == 3 && !context.argumentIs(2, "FORCE") && !context.argumentIs(2, "TAKEOVER")) {
            context.syntaxError();
        } else if (cluster.view().me().isPrimary()) {
            context.reply().error("ERR You should send CLUSTER FAILOVER to a replica");
        } else if (failover == null) {
            context.reply().error(MEMBERS_BY_TOOL);
        } else if (context.argumentCount() == 3) {
            context.reply().error("ERR CLUSTER FAILOVER without the primary's consent is not available: if it is gone,"
                    + " the controllers fail over by themselves");
        } else if (context.isInTransaction()) {
            context.reply().error("ERR CLUSTER FAILOVER is not allowed in a transaction");
        } else {
            ParkedCommand wait = context.park(0, _ -> {});
            failover.takeOver(failure -> wait.answer(reply -> {
                if (failure == null) {
                    reply.ok();
                } else {
                    reply.error("ERR " + failure);
                }
            }));
        }
    }
}
