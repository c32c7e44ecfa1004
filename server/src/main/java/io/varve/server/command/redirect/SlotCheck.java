package io.varve.server.command.redirect;

import java.util.Objects;
import java.util.Set;

import io.varve.cluster.map.Member;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.ClusterView;
import io.varve.server.clustering.KeyCopies;
import io.varve.server.clustering.NodesText;
import io.varve.server.clustering.SlotHolds;
import io.varve.server.command.Errors;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.ScriptUse;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.session.Transaction;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.keys.KeyHashSlots;
import org.jspecify.annotations.Nullable;

/**
 * Decides as Redis Cluster does whether this member serves a command. Confined to its event loop.
 *
 * <p>A command is checked before it runs or is queued. If the view has changed since then, or its slot is moving, it is
 * checked again under the locks of its keys: until it has run, neither its keys nor the view can change for it
 * ({@link io.varve.server.clustering.ClusterListener#awaitOlderCommands}).
 *
 * <p>With controllers, a migrating slot stays wholly with its owner until the map changes, so nothing is looked up at
 * the receiver, and clients see no ASK and no TRYAGAIN. In the last moments its commands wait ({@link SlotHolds}).
 *
 * <p>Reads of clients with READONLY are served from {@linkplain KeyCopies copies} of other members' keys. They are
 * always checked again under the locks.
 */
public final class SlotCheck {
    private static final String CROSS_SLOT = "CROSSSLOT Keys in request don't hash to the same slot";
    private static final String TRY_AGAIN = "TRYAGAIN Multiple keys request during rehashing of slot";
    private static final String IMPORTING = "TRYAGAIN This member receives slots: it cannot be flushed meanwhile";
    private static final String DOWN = "CLUSTERDOWN The cluster is down";
    private static final String DOWN_FOR_WRITES = "CLUSTERDOWN The cluster is down and only accepts read commands";
    private static final String NOT_SERVED = "CLUSTERDOWN Hash slot not served";
    private static final String BEING_MOVED = "ERR The controllers move the keys of this hash slot";
    private static final String NOT_IMPORTED = "ERR This member does not import the hash slot on this connection";
    /** An owner sends a copy of its key, or has one deleted. The command decides itself whether it may. */
    private static final Set<String> OF_COPIES = Set.of("varve.copy", "varve.uncopy");
    private static final String NOT_LOCAL = "ERR Script attempted to access a non local key in a cluster node";
    private static final String DOWN_IN_SCRIPT = "ERR Script attempted to execute a command while the cluster is down";
    private static final String DOWN_FOR_WRITES_IN_SCRIPT = "ERR Script attempted to execute a write command while the"
            + " cluster is down and readonly";
    private static final int NONE = -2;

    private final ClusterState cluster;
    private final SlotHolds holds;
    private final CacheSession session;
    private final Item item = new Item();
    /** The first key, apart from the batch, which may bind another key in the same place. */
    private final Key firstKey = new Key();
    private ClusterView view;
    /** The slot of the command that is checked, and its first key or channel. */
    private int slot;
    /** The slot that the command waits for while it is held, {@link SlotHolds#ALL} or {@link #NONE}. */
    private int awaited;
    /** Whether the slot is another member's, and was held when it was looked at. */
    private boolean isLeaving;
    private long firstAddress;
    private int firstLength;
    private boolean isImporting;
    private boolean isMigrating;
    private boolean hasSeveralKeys;
    private boolean hasChannels;
    /** Whether the command reads copies of another member's keys. */
    private boolean readsCopies;
    private int existing;
    private int missing;

    public SlotCheck(ClusterState cluster, CacheSession session) {
        this.cluster = cluster;
        this.session = session;
        holds = cluster.holds();
        view = cluster.view();
    }

    /** Whether an error sends the client elsewhere, so that EXEC replies it as it is. */
    public static boolean isRedirection(String error) {
        return error.startsWith("MOVED ") || error.startsWith("ASK ") || error.startsWith("CLUSTERDOWN ")
                || error.equals(CROSS_SLOT) || error.equals(TRY_AGAIN);
    }

    /** The error for a command of a script that would have this error outside: its client cannot be sent elsewhere. */
    public static String inScript(String error) {
        return switch (error) {
            case DOWN -> DOWN_IN_SCRIPT;
            case DOWN_FOR_WRITES -> DOWN_FOR_WRITES_IN_SCRIPT;
            default -> isRedirection(error) ? NOT_LOCAL : error;
        };
    }

    /**
     * The error for a command that this member does not serve; null if it serves it.
     *
     * @param executed the transaction that the command runs; null if it is not EXEC
     */
    public @Nullable String refusal(Batch batch, int command, CommandSpec spec, Client client,
            @Nullable Transaction executed) {
        return check(batch, command, spec, client, executed, false);
    }

    /**
     * As {@link #refusal}, for the command that was checked last. The shards of its keys are locked.
     */
    public @Nullable String refusalUnderLocks(Batch batch, int command, CommandSpec spec, Client client,
            @Nullable Transaction executed) {
        return isCurrent() ? null : check(batch, command, spec, client, executed, true);
    }

    /** Whether the result of the last check still holds without one under locks. */
    public boolean isCurrent() {
        return cluster.view() == view && !isImporting && !readsCopies && (cluster.isControlled() || !isMigrating)
                && !isHeld();
    }

    /**
     * Whether the command that was checked last has to wait, because its slot is held. If this member does not own the
     * slot, it stays so when the slot is released meanwhile: the check has not said where the command belongs.
     */
    public boolean isHeld() {
        return isLeaving || holds.isAny() && awaited != NONE && (awaited == SlotHolds.ALL || holds.isHeld(awaited));
    }

    /** The wait of the command that was checked last. It is checked and runs again afterwards. */
    public ParkedCommand awaitRelease() {
        ParkedCommand wait = ParkedCommand.hidden();
        Runnable resume = wait::resume;
        wait.onFinish(() -> holds.cancel(resume));
        holds.whenReleased(awaited, resume);
        if (cluster.view() != view) {
            // The change has woken those that waited before.
            wait.resume();
        }
        return wait;
    }

    /** The hash slot of the command that was checked last; negative if it has no keys or channels. */
    public int slot() {
        return slot;
    }

    /** Whether the member had its lease when the last command was checked. */
    public boolean isLeased() {
        return view.isLeased();
    }

    private @Nullable String check(Batch batch, int command, CommandSpec spec, Client client,
            @Nullable Transaction executed, boolean locked) {
        view = cluster.view();
        slot = NONE;
        awaited = NONE;
        isLeaving = false;
        isImporting = false;
        isMigrating = false;
        hasSeveralKeys = false;
        hasChannels = false;
        readsCopies = false;
        if (client.connection().isReplay()) {
            return null;
        }
        String error = executed == null ? addKeys(batch, command, spec) : addKeys(executed.batch());
        if (error != null) {
            return error;
        }
        boolean writes = spec.isWrite() || executed != null && executed.writes();
        if (slot == NONE || executed != null && executed.flushes() > 0) {
            // It flushes: the receivers of held slots would not.
            awaited = writes ? SlotHolds.ALL : NONE;
            error = writes ? refusalOfFlush() : null;
        }
        if (slot == NONE || error != null) {
            return error;
        }
        boolean isChannel = hasChannels && executed == null;
        if (awaited == NONE && !isChannel) {
            awaited = slot;
        }
        if (!view.isHealthy()) {
            error = refusalWhenDown(writes, isChannel);
            if (error != null) {
                return error;
            }
        }
        return redirection(batch, command, spec, client, executed, locked);
    }

    /** FLUSHALL: another member may be the primary by now, or have sent keys that it serves itself until the end. */
    private @Nullable String refusalOfFlush() {
        if (!view.isLeased()) {
            return DOWN;
        }
        if (cluster.isControlled() && !view.me().isPrimary()) {
            // The map changes before this server begins to follow.
            return Errors.READ_ONLY;
        }
        return cluster.isControlled() && !view.importing().isEmpty() ? IMPORTING : null;
    }

    private @Nullable String refusalWhenDown(boolean writes, boolean isChannel) {
        if (isChannel) {
            return view.options().shardChannelsWhenDown() ? null : DOWN;
        }
        if (!view.options().readsWhenDown()) {
            return DOWN;
        }
        return writes ? DOWN_FOR_WRITES : null;
    }

    private @Nullable String redirection(Batch batch, int command, CommandSpec spec, Client client,
            @Nullable Transaction executed, boolean locked) {
        boolean isChannel = hasChannels && executed == null;
        if ((isMigrating || isImporting) && spec.name().equals("migrate")) {
            if (!cluster.isControlled()) {
                return null;
            }
            if (isMigrating) {
                return BEING_MOVED;
            }
        }
        if (isMigrating && !isChannel && !cluster.isControlled()) {
            countKeys(batch, command, executed, locked);
            if (missing > 0) {
                return existing > 0 ? TRY_AGAIN : to("ASK ", Objects.requireNonNull(view.migrating().get(slot)));
            }
        }
        boolean isAsking = client.isAsking() || spec.has(CommandFlag.ASKING);
        if (cluster.isControlled() && isAsking && !isChannel) {
            return isFromSource(client) ? null : NOT_IMPORTED;
        }
        if (isImporting && isAsking) {
            if (hasSeveralKeys && !isChannel) {
                countKeys(batch, command, executed, locked);
                return missing > 0 ? TRY_AGAIN : null;
            }
            return null;
        }
        Member owner = Objects.requireNonNull(view.owner(slot));
        if (view.isMe(owner)) {
            return null;
        }
        if (!isChannel && holds.isHeld(slot)) {
            // Until its new owner knows that it is, too.
            isLeaving = true;
            return null;
        }
        boolean writes = executed == null
                ? spec.isWrite() || ScriptUse.declaresWrites(batch, command)
                : executed.writes() || executed.declaresWrites();
        boolean isServedByReplica = isChannel || client.readsFromReplica() && !writes;
        if (isServedByReplica && view.holds(slot)) {
            return null;
        }
        if (!isChannel && (OF_COPIES.contains(spec.name())
                || isServedByReplica && areCopies(batch, command, spec, executed, owner, locked))) {
            return null;
        }
        return to("MOVED ", owner);
    }

    /**
     * Whether this member has valid copies of all keys of a read. Without locks only an answer that is no is final.
     */
    private boolean areCopies(Batch batch, int command, CommandSpec spec, @Nullable Transaction executed, Member owner,
            boolean locked) {
        KeyCopies copies = cluster.copies();
        if (copies.count() == 0 || isImporting || executed == null && !spec.has(CommandFlag.READONLY)) {
            return false;
        }
        Batch named = executed == null ? batch : executed.batch();
        int first = executed == null ? batch.firstKey(command) : 0;
        int count = executed == null ? batch.keyCount(command) : named.keyTotal();
        for (int i = first; i < first + count; i++) {
            Key key = named.key(i);
            if (!copies.isServable(key.address(), key.length(), owner.id())) {
                return false;
            }
            if (locked && !session.peek(key, item)) {
                copies.lose(key.address(), key.length());
                return false;
            }
        }
        readsCopies = true;
        return true;
    }

    /** Whether the source sends the command in its last attempt to move the slot here. */
    private boolean isFromSource(Client client) {
        Member source = isImporting ? view.importing().get(slot) : null;
        return source != null && cluster.imports().accepts(slot, source.id(), client.id());
    }

    private String to(String kind, Member member) {
        return kind + slot + ' ' + NodesText.host(member) + ':' + member.port();
    }

    // --- keys

    private @Nullable String addKeys(Batch queued) {
        String error = null;
        for (int i = 0; i < queued.commandCount() && error == null; i++) {
            error = addKeys(queued, i, Objects.requireNonNull(queued.spec(i)));
        }
        return error;
    }

    /** @return the error, if one key decides: its slot is another's or no one's */
    private @Nullable String addKeys(Batch batch, int command, CommandSpec spec) {
        String error = null;
        int first = batch.firstKey(command);
        for (int i = first; i < first + batch.keyCount(command) && error == null; i++) {
            Key key = batch.key(i);
            error = add(key.slot(), key.address(), key.length());
        }
        if (spec.firstKey() > 0 && !spec.namesKeys()) {
            error = error == null ? addChannels(batch, command, spec) : error;
        }
        return error;
    }

    private @Nullable String addChannels(Batch batch, int command, CommandSpec spec) {
        hasChannels = true;
        int count = batch.argumentCount(command);
        int last = spec.lastKey() < 0 ? count + spec.lastKey() : spec.lastKey();
        String error = null;
        for (int i = spec.firstKey(); i <= last && error == null; i += spec.keyStep()) {
            int argument = batch.firstArgument(command) + i;
            error = add(KeyHashSlots.INSTANCE.slot(batch.address(argument), batch.length(argument)),
                    batch.address(argument), batch.length(argument));
        }
        return error;
    }

    private @Nullable String add(int next, long address, int length) {
        if (slot == NONE) {
            slot = next;
            firstAddress = address;
            firstLength = length;
            Member owner = view.owner(next);
            if (owner == null) {
                return NOT_SERVED;
            }
            isMigrating = !view.migrating().isEmpty() && view.isMe(owner) && view.migrating().containsKey(next);
            isImporting = !isMigrating && !view.importing().isEmpty() && view.importing().containsKey(next);
            return null;
        }
        if (next != slot) {
            return CROSS_SLOT;
        }
        hasSeveralKeys |= isImporting
                && (length != firstLength || !Memory.equal(address, firstAddress, length));
        return null;
    }

    /** Counts which keys exist. All are in one shard, because all are in one slot. */
    private void countKeys(Batch batch, int command, @Nullable Transaction executed, boolean locked) {
        existing = 0;
        missing = 0;
        Batch named = executed == null ? batch : executed.batch();
        int first = executed == null ? batch.firstKey(command) : 0;
        int count = executed == null ? batch.keyCount(command) : named.keyTotal();
        if (count == 0) {
            return;
        }
        session.bind(firstKey, 0, firstAddress, firstLength);
        if (!locked) {
            session.lock(firstKey);
        }
        try {
            for (int i = first; i < first + count; i++) {
                if (session.peek(named.key(i), item)) {
                    existing++;
                } else {
                    missing++;
                }
            }
        } finally {
            if (!locked) {
                session.unlock(firstKey);
            }
        }
    }
}
