package io.varve.server.command;

import java.util.Arrays;
import java.util.function.Consumer;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.ShardSet;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.acl.AccessRequest;
import io.varve.server.acl.User;
import io.varve.server.admin.LoopCounters;
import io.varve.server.blocking.Pass;
import io.varve.server.events.KeyEvents;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * One command while it runs: its arguments, its keys, its client, where to reply, and the cache. Confined to its event
 * loop; reused from command to command.
 */
public final class Invocation extends CallArguments {
    private final Cache cache;
    private final CacheSession session;
    private final ServerContext server;
    private final KeyEvents events;
    private final LoopCounters counters;
    private final @Nullable Below below;
    private final Key spareKey = new Key();
    private final Item item = new Item();
    private final Item otherItem = new Item();
    private @Nullable Client client;
    private @Nullable ReplyWriter reply;
    private @Nullable Suspension suspension;
    private @Nullable Pass pass;
    private final @Nullable Transactions transactions;
    private long errorsToldOf;
    private boolean mayHaveChanged;
    private boolean changesNothing;
    private @Nullable Object[] workspaces = new Object[8];
    private final ShardSet allShards;
    private final ShardSet namedShards;

    /**
     * @param below        the tier below memory; null if there is none
     * @param transactions runs them; null within one
     * @param counters     of its event loop
     */
    public Invocation(Cache cache, CacheSession session, ServerContext server, @Nullable Below below,
            @Nullable Transactions transactions, LoopCounters counters) {
        this.transactions = transactions;
        this.counters = counters;
        this.cache = cache;
        this.session = session;
        this.server = server;
        events = server.keyEvents();
        this.below = below;
        allShards = new ShardSet(cache.shardCount());
        namedShards = new ShardSet(cache.shardCount());
        for (int i = 0; i < cache.shardCount(); i++) {
            allShards.add(i);
        }
    }

    /** Points at one command of the batch. */
    public void begin(Client client, ReplyWriter reply, CommandSpec spec, Batch batch, int command) {
        pointAt(spec, batch, command);
        this.client = client;
        this.reply = reply;
        mayHaveChanged = false;
        // What may make an item knows what is to be in it: no client goes and fetches what such a command does not find.
        session.awaitingFills(!spec.isDenyOom());
    }

    // --- around the command

    public Cache cache() {
        return cache;
    }

    /** What the server holds beside the cache. */
    public ServerContext server() {
        return server;
    }

    /** Tells what happens to keys. */
    public KeyEvents events() {
        return events;
    }

    /** The command has changed the data so many times: as Redis counts it, for each element or each key. */
    public void countChanges(long changes) {
        counters.countChanges(changes);
    }

    public CacheSession session() {
        return session;
    }

    public Client client() {
        return java.util.Objects.requireNonNull(client);
    }

    public ReplyWriter reply() {
        return java.util.Objects.requireNonNull(reply);
    }

    /** The client's logical database. */
    public int database() {
        return client().database();
    }

    /** Whether the client's user may read keys that the command does not name: those that SORT's BY and GET lead to. */
    public boolean mayReadAllKeys() {
        User user = client().user();
        return user.isUnrestricted()
                || user.permitsAllKeys(RequestedAccess.of(this, spec()), AccessRequest.READ);
    }

    /** The batch's time, ms since the epoch: what decides about expiry. */
    public long now() {
        return session.now();
    }

    /**
     * Makes the client wait for an answer that comes later; the handler then returns without a reply.
     *
     * @param timeoutMillis how long at most; 0: for ever
     * @param atTimeout     writes the reply if there is no answer by then
     */
    public Suspension suspend(long timeoutMillis, Consumer<ReplyWriter> atTimeout) {
        Suspension fresh = new Suspension(timeoutMillis, atTimeout);
        suspension = fresh;
        return fresh;
    }

    /** Has the command, which has done nothing, run again when this is over; the handler returns without a reply. */
    void runAgainAfter(Suspension wait) {
        suspension = wait;
    }

    /**
     * The same, after what is over {@link Suspension#again when the caller says so}, of which nobody else is told. It keeps its place at the barrier.
     */
    public Suspension runAgain() {
        Pass had = takePass();
        if (had != null) {
            client().pass(had);
        }
        Suspension wait = Suspension.unnoticed();
        runAgainAfter(wait);
        return wait;
    }

    /** Its place at the barrier in front of which some commands wait ({@link Promises}), while it runs. */
    public void pass(@Nullable Pass value) {
        pass = value;
    }

    /** The same, which is its no more; null if it has none. */
    @Nullable
    Pass takePass() {
        Pass had = pass;
        pass = null;
        return had;
    }

    /** The suspension that the last command asked for, once; null if none. */
    public @Nullable Suspension takeSuspension() {
        Suspension asked = suspension;
        if (asked != null) {
            suspension = null;
        }
        return asked;
    }

    /** MULTI: an empty transaction for the client; null if the heap has no room for it. */
    public @Nullable Transaction beginTransaction() {
        return java.util.Objects.requireNonNull(transactions, "MULTI within EXEC").begin(database());
    }

    /** EXEC. */
    public void runTransaction() {
        Transaction queued = client().transaction();
        if (queued == null) {
            reply().error("ERR EXEC without MULTI");
        } else {
            java.util.Objects.requireNonNull(transactions, "EXEC within EXEC").run(this, queued);
        }
    }

    /** Whether the command is part of a transaction: it cannot wait. */
    public boolean isInTransaction() {
        return transactions == null;
    }

    /** Whether it may have changed the key space although its spec does not say so: it cannot be run again. */
    public boolean mayHaveChanged() {
        return mayHaveChanged;
    }

    /** See {@link #mayHaveChanged()}. */
    public void mayHaveChanged(boolean value) {
        mayHaveChanged = value;
    }

    /** Of a command that says so: whether it changes nothing, although its spec says that it may. It can be run again. */
    public boolean changesNothing() {
        return changesNothing;
    }

    /** See {@link #changesNothing()}. */
    public void changesNothing(boolean value) {
        changesNothing = value;
    }

    // --- keys that it does not name

    /** All shards: those of a command that looks at keys which it does not name. */
    public ShardSet allShards() {
        return allShards;
    }

    /** Whether the command looks at keys that it does not name. */
    public boolean usesOtherKeys() {
        CommandSpec.OtherKeys others = spec().otherKeys();
        return others != null && others.areUsed(this);
    }

    /**
     * Does something without the locks of the command, which has copied all that it still needs of its keys, so that others get to the
     * shards. The locks are kept within a transaction, and for a client that caches what it reads: it would not be told of what changes
     * meanwhile.
     */
    public void letOthers(Runnable meanwhile) {
        if (isInTransaction() || client().tracker() != null) {
            meanwhile.run();
            return;
        }
        ShardSet locked = lockedShards();
        session.unlock(locked);
        try {
            meanwhile.run();
        } finally {
            session.lock(locked);
        }
    }

    private ShardSet lockedShards() {
        if (usesOtherKeys()) {
            return allShards;
        }
        namedShards.clear();
        for (int i = 0; i < keyCount(); i++) {
            namedShards.add(keyAt(i).shard());
        }
        return namedShards;
    }

    /**
     * Whether a key that the command does not name, its shard locked, may be on flash and has to be fetched first: it then counts as
     * missing until the command says {@link #requireAllFetched}.
     */
    public boolean isToBeFetched(Key key) {
        return below != null && below.noteIfMissing(batch(), key);
    }

    /**
     * To be called before anything is changed or counted on.
     *
     * @throws KeyBelowException if a key has to be fetched: the handler lets it pass, and is run again
     */
    public void requireAllFetched() {
        if (below != null && below.hasOthers()) {
            throw new KeyBelowException();
        }
    }

    /** The keys that were to be fetched are not needed. */
    public void dropOtherKeys() {
        if (below != null) {
            below.dropOthers();
        }
    }

    /** So many of the errors in its reply are its commands', and have been counted as theirs. */
    public void errorsToldOf(long count) {
        errorsToldOf += count;
    }

    /** How many since the last call. */
    public long takeErrorsToldOf() {
        long told = errorsToldOf;
        errorsToldOf = 0;
        return told;
    }

    /**
     * The key at this argument in another database, for COPY and MOVE, which ask for it before they change or count anything:
     * it is in the same shard, which is locked. Valid until the next call.
     *
     * @throws KeyBelowException if it may be on flash: the handler lets it pass, and is run again
     */
    public Key keyInDatabase(int argumentIndex, int database) {
        session.bind(spareKey, database, argumentAddress(argumentIndex), argumentLength(argumentIndex));
        if (below != null && below.isMissing(batch(), spareKey)) {
            throw new KeyBelowException();
        }
        return spareKey;
    }

    /** The key that {@link #keyInDatabase} bound last, or that a command names in another database. */
    public Key keyElsewhere() {
        return spareKey;
    }

    /** A flyweight for the item that the command looks at, reused from command to command. */
    public Item item() {
        return item;
    }

    /** A second one, for a command that looks at two items at a time. */
    public Item otherItem() {
        return otherItem;
    }

    /** What a family has put at this place; null if it has put nothing there. See {@link Workspace}. */
    @Nullable
    Object workspace(int place) {
        return place < workspaces.length ? workspaces[place] : null;
    }

    void workspace(int place, Object made) {
        if (place >= workspaces.length) {
            workspaces = Arrays.copyOf(workspaces, 2 * place);
        }
        workspaces[place] = made;
    }

    // --- numbers, or the error

    /** {@link #isLong(int)}, which replies the error if it is none: the handler just returns. */
    public boolean requireLong(int argumentIndex) {
        return requireLong(argumentIndex, Errors.NOT_AN_INTEGER);
    }

    public boolean requireLong(int argumentIndex, String error) {
        if (isLong(argumentIndex)) {
            return true;
        }
        reply().error(error);
        return false;
    }

    /** {@link #requireLong(int)} for an integer that the handler negates: the least one has no counterpart. */
    public boolean requireNegatableLong(int argumentIndex) {
        if (!requireLong(argumentIndex)) {
            return false;
        }
        if (longValue() == Long.MIN_VALUE) {
            reply().error(Errors.NOT_NEGATABLE);
            return false;
        }
        return true;
    }

    /** Like {@link #requireLong} for a float. */
    public boolean requireDouble(int argumentIndex) {
        return requireDouble(argumentIndex, Errors.NOT_A_FLOAT);
    }

    public boolean requireDouble(int argumentIndex, String error) {
        if (parseDouble(argumentAddress(argumentIndex), argumentLength(argumentIndex))) {
            return true;
        }
        reply().error(error);
        return false;
    }

    // --- frequent replies

    public void syntaxError() {
        reply().error(Errors.SYNTAX_ERROR);
    }

    public void wrongType() {
        reply().error(Errors.WRONG_TYPE);
    }

    /** The error for a command whose options make its argument count wrong. */
    public void wrongArgumentCount() {
        reply().error("ERR wrong number of arguments for '" + spec().fullName() + "' command");
    }
}
