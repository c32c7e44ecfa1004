package io.varve.server.command;

import java.util.Arrays;
import java.util.function.Consumer;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.shard.ShardSet;
import io.varve.server.acl.AccessRequest;
import io.varve.server.acl.User;
import io.varve.server.admin.LoopCounters;
import io.varve.server.command.access.RequestedAccess;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.ReceivedRequest;
import io.varve.server.command.flash.FlashKeyFetcher;
import io.varve.server.command.flash.KeyNotResidentException;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.session.Transaction;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.events.KeyEvents;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.persistence.RecordedCommand;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * The running command: its arguments, keys, client, reply and cache. Confined to its event loop; reused from command to
 * command.
 */
public final class CommandContext extends CallArguments {
    /** Values up to this size are copied into the reply, whether they are in a run or not. */
    private static final int COPIED_VALUE_BYTES = 16 << 10;

    private final Cache cache;
    private final CacheSession session;
    private final ServerState server;
    private final KeyEvents events;
    private final LoopCounters counters;
    private final ChangeRecorder recorder;
    private final @Nullable FlashKeyFetcher keyFetcher;
    private final Key spareKey = new Key();
    private final Item item = new Item();
    private final Item otherItem = new Item();
    private @Nullable Client client;
    private @Nullable ReplyWriter reply;
    private @Nullable ParkedCommand parked;
    private final @Nullable Transactions transactions;
    private long reportedErrors;
    private boolean mayHaveChanged;
    private boolean changesNothing;
    /** Whether it has recorded its changes itself. */
    private boolean hasRecorded;
    private boolean changedSilently;
    private @Nullable Scripts scripts;
    private boolean isInScript;
    private @Nullable Object[] scratchObjects = new Object[8];
    private final ShardSet allShards;
    private final ShardSet shardOfKey;
    /** Remembers which keys are not on flash; null: the batch of the command does. */
    private @Nullable Batch lookups;
    /** The locked shards; null: that of its only key. */
    private @Nullable ShardSet lockedShards;

    /**
     * @param keyFetcher the fetcher for the flash tier; null if there is none
     * @param transactions runs transactions; null within one
     * @param counters the counters of its event loop
     * @param recorder records changes for the change stream
     */
    public CommandContext(Cache cache, CacheSession session, ServerState server, @Nullable FlashKeyFetcher keyFetcher,
            @Nullable Transactions transactions, LoopCounters counters, ChangeRecorder recorder) {
        this.transactions = transactions;
        this.recorder = recorder;
        this.counters = counters;
        this.cache = cache;
        this.session = session;
        this.server = server;
        events = server.notifications().keyEvents();
        this.keyFetcher = keyFetcher;
        allShards = new ShardSet(cache.shardCount());
        shardOfKey = new ShardSet(cache.shardCount());
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
        // A command that may create an item brings its content, so a miss of such a command does not start the
        // measurement of the time until a client fills the key.
        session.awaitingFills(!spec.isDenyOom());
        session.deriving(spec.isWrite());
    }

    // --- changes

    /**
     * Runs the command under its locks, and records its changes: as the command that the client has sent, unless the
     * handler records others ({@link #record}).
     */
    public void run(Handler handler) {
        hasRecorded = false;
        changedSilently = false;
        long before = session.changes();
        try {
            handler.run(this);
        } finally {
            // A command that fails may have changed something before.
            if ((session.changes() != before || changedSilently) && recorder.isOn()) {
                recordChanges();
            }
        }
    }

    private void recordChanges() {
        if (!hasRecorded) {
            recordRequest();
        }
        server.recorded(client(), recorder.offset());
    }

    private void recordRequest() {
        long start = ReceivedRequest.start(batch(), command());
        if (start != ReceivedRequest.NONE) {
            recorder.received(database(), start, ReceivedRequest.end(batch(), command()) - start);
            return;
        }
        recorder.begin(database(), argumentCount());
        for (int i = 0; i < argumentCount(); i++) {
            recorder.argument(argumentAddress(i), argumentLength(i));
        }
        recorder.end();
    }

    /** Has the command recorded although nobody is told of its change, as in Redis. */
    public void changedSilently() {
        changedSilently = true;
    }

    /** Has the command not recorded: its change is of no use to log and replicas. */
    public void withoutRecord() {
        hasRecorded = true;
    }

    /** Whether changes are recorded. */
    public boolean isRecording() {
        return recorder.isOn();
    }

    /**
     * Begins a command that stands for the running one in the record of changes, because that would not do the same
     * again, or not in Redis: it draws random members, names a time from now on, or waits. The caller adds the other
     * arguments, and ends it.
     *
     * @param key the first argument
     * @param arguments their number, the name and the key among them
     */
    public ChangeRecorder record(RecordedCommand name, Key key, int arguments) {
        hasRecorded = true;
        return recorder.begin(key.database(), name, arguments).argument(key);
    }

    /** As {@link #record}, for a command with a subcommand, which the number of arguments includes. */
    public ChangeRecorder record(RecordedCommand name, RecordedCommand subcommand, Key key, int arguments) {
        hasRecorded = true;
        return recorder.begin(key.database(), name, arguments).argument(subcommand).argument(key);
    }

    /** As {@link #record}, for a command that precedes the record of the running one. */
    public ChangeRecorder recordBefore(RecordedCommand name, Key key, int arguments) {
        return recorder.begin(key.database(), name, arguments).argument(key);
    }

    /** Adds an argument to the command that {@link #record} has begun. */
    public void recordArgument(long address, int length) {
        recorder.argument(address, length);
    }

    /** Ends the command that {@link #record} has begun. */
    public void endRecord() {
        recorder.end();
    }

    /** Records that the key was deleted, in place of the running command. */
    public void recordDeletion(Key key) {
        if (recorder.isOn()) {
            record(RecordedCommand.DEL, key, 2).end();
        }
    }

    /** Records a new expiry time, in place of the running command. */
    public void recordExpiry(Key key, long expireAtMillis) {
        if (recorder.isOn()) {
            record(RecordedCommand.PEXPIREAT, key, 3).argument(expireAtMillis).end();
        }
    }

    // --- around the command

    public Cache cache() {
        return cache;
    }

    /** The server state outside the cache. */
    public ServerState server() {
        return server;
    }

    /** The publisher of keyspace events. */
    public KeyEvents events() {
        return events;
    }

    /** Adds to the count of changes as Redis counts them, one for each element or key. */
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

    /** Replies an item's value; a large one is sent from its run without a copy. */
    public void replyValue(Item item) {
        replyValue(item, item.valueAddress(), item.valueLength());
    }

    /** Replies a part of an item's value, from the address on. */
    public void replyValue(Item item, long address, int length) {
        if (length > COPIED_VALUE_BYTES) {
            ValueRun run = session.runOf(item);
            if (run != null) {
                reply().bigBulk(run, address, length);
                return;
            }
        }
        reply().bulk(address, length);
    }

    /** The client's logical database. */
    public int database() {
        return client().database();
    }

    /** Whether the client's user may read keys that the command does not name, such as those of SORT's BY and GET. */
    public boolean mayReadAllKeys() {
        User user = client().user();
        return user.isUnrestricted()
                || user.permitsAllKeys(RequestedAccess.of(this, spec()), AccessRequest.READ);
    }

    /** The batch's time, ms since the epoch. */
    public long now() {
        return session.now();
    }

    /** The time that decides what has expired: see {@link CacheSession#expiryMillis}. */
    public long expiryMillis() {
        return session.expiryMillis();
    }

    /**
     * Parks the client until an answer arrives; the handler then returns without a reply.
     *
     * @param timeoutMillis maximum wait, ms; 0: no timeout
     * @param atTimeout writes the reply if the timeout passes first
     */
    public ParkedCommand park(long timeoutMillis, Consumer<ReplyWriter> atTimeout) {
        ParkedCommand fresh = new ParkedCommand(timeoutMillis, atTimeout);
        parked = fresh;
        return fresh;
    }

    /** Re-runs the command, which has changed nothing, after the wait; the handler returns without a reply. */
    public void retryAfter(ParkedCommand wait) {
        parked = wait;
    }

    /**
     * Re-runs the command after the caller ends the wait with {@link ParkedCommand#resume}. CLIENT LIST and INFO do not
     * show the wait.
     */
    public ParkedCommand parkForRetry() {
        ParkedCommand wait = ParkedCommand.hidden();
        retryAfter(wait);
        return wait;
    }

    /** Returns and clears the parking that the last command requested; null if there is none. */
    public @Nullable ParkedCommand takeParkedCommand() {
        ParkedCommand taken = parked;
        if (taken != null) {
            parked = null;
        }
        return taken;
    }

    /** Starts an empty transaction for the client (MULTI); null if the heap budget is exhausted. */
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

    /** Runs scripts for EVAL and its like. */
    public Scripts scripts() {
        return java.util.Objects.requireNonNull(scripts, "a script within a script");
    }

    /** See {@link #scripts()}; set once. */
    public void scripts(Scripts value) {
        scripts = value;
    }

    /** Whether a script calls the command. */
    public boolean isInScript() {
        return isInScript;
    }

    /** See {@link #isInScript()}; set once. */
    public void isInScript(boolean value) {
        isInScript = value;
    }

    /** Whether the command runs within a transaction, where it cannot wait. */
    public boolean isInTransaction() {
        return transactions == null;
    }

    /** Whether it may have changed the keyspace although its spec is not a write: it must not be retried. */
    public boolean mayHaveChanged() {
        return mayHaveChanged;
    }

    /** See {@link #mayHaveChanged()}. */
    public void mayHaveChanged(boolean value) {
        mayHaveChanged = value;
    }

    /** Whether the command declares that it changes nothing although its spec is a write: it may be retried. */
    public boolean changesNothing() {
        return changesNothing;
    }

    /** See {@link #changesNothing()}. */
    public void changesNothing(boolean value) {
        changesNothing = value;
    }

    // --- keys that it does not name

    /** All shards, for a command that reads keys without naming them. */
    public ShardSet allShards() {
        return allShards;
    }

    /** Whether the command reads keys that it does not name. */
    public boolean usesOtherKeys() {
        CommandSpec.OtherKeys others = spec().otherKeys();
        return others != null && others.areUsed(this);
    }

    /**
     * Runs an action without the command's shard locks, so that other commands can use the shards. The command must
     * have copied all key data that it still needs. Keeps the locks within a transaction, and for a client with
     * tracking, which would miss the invalidations of changes during the action.
     */
    public void withLocksReleased(Runnable action) {
        if (isInTransaction() || client().tracker() != null) {
            action.run();
            return;
        }
        ShardSet locked = lockedShards();
        session.unlock(locked);
        try {
            action.run();
        } finally {
            session.lock(locked);
        }
    }

    /** Sets the locked shards; null: that of its only key. They may be more than those of its keys. */
    public void lockedShards(@Nullable ShardSet locked) {
        lockedShards = locked;
    }

    private ShardSet lockedShards() {
        if (lockedShards != null) {
            return lockedShards;
        }
        shardOfKey.clear();
        shardOfKey.add(keyAt(0).shard());
        return shardOfKey;
    }

    /**
     * Whether a key that the command does not name may be on flash and has to be fetched first. The key's shard is
     * locked. Such a key counts as missing until the command calls {@link #requireAllFetched}.
     */
    public boolean deferIfOnFlash(Key key) {
        return keyFetcher != null && keyFetcher.deferIfOnFlash(lookups(), key);
    }

    /** Sets the batch that remembers which keys are not on flash: that of the script, for a command within it. */
    public void lookups(Batch batch) {
        lookups = batch;
    }

    private Batch lookups() {
        return lookups == null ? batch() : lookups;
    }

    /**
     * Stops a command that needs keys from flash. Call it before any change, and before relying on a missing key.
     *
     * @throws KeyNotResidentException if a key has to be fetched: the handler propagates it and is re-run
     */
    public void requireAllFetched() {
        if (keyFetcher != null && keyFetcher.hasRecordedKeys()) {
            throw new KeyNotResidentException();
        }
    }

    /** Discards the keys recorded for fetching, because the command does not need them. */
    public void discardOtherKeys() {
        if (keyFetcher != null) {
            keyFetcher.discardRecordedKeys();
        }
    }

    /** Records that this many errors in its reply belong to queued commands and have been counted for them. */
    public void countErrors(long count) {
        reportedErrors += count;
    }

    /** Returns and clears the count of {@link #countErrors}. */
    public long drainCountedErrors() {
        long reported = reportedErrors;
        reportedErrors = 0;
        return reported;
    }

    /**
     * The key at this argument in another database, for COPY and MOVE, which request it before any change. It is in the
     * same shard, which is locked. Valid until the next call.
     *
     * @throws KeyNotResidentException if it may be on flash: the handler propagates it and is re-run
     */
    public Key keyInDatabase(int argumentIndex, int database) {
        session.bind(spareKey, database, argumentAddress(argumentIndex), argumentLength(argumentIndex));
        if (keyFetcher != null && (isInScript
                ? keyFetcher.deferIfOnFlash(lookups(), spareKey)
                : keyFetcher.isMissing(batch(), spareKey))) {
            throw new KeyNotResidentException();
        }
        return spareKey;
    }

    /** The key that {@link #keyInDatabase} bound last, or that a command names in another database. */
    public Key keyInOtherDatabase() {
        return spareKey;
    }

    /** A flyweight for the item that the command uses, reused from command to command. */
    public Item item() {
        return item;
    }

    /** A second flyweight, for a command that uses two items at a time. */
    public Item otherItem() {
        return otherItem;
    }

    /** The scratch object stored at this index; null if there is none. See {@link CommandScratch}. */
    @Nullable
    Object scratchObject(int place) {
        return place < scratchObjects.length ? scratchObjects[place] : null;
    }

    void scratchObject(int place, Object made) {
        if (place >= scratchObjects.length) {
            scratchObjects = Arrays.copyOf(scratchObjects, 2 * place);
        }
        scratchObjects[place] = made;
    }

    // --- numbers, or the error

    /** Calls {@link #isLong(int)} and replies the error if the argument is no integer: the handler just returns. */
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

    /** The database that an argument names; -1 after an error was replied. */
    public int requireDatabase(int argument) {
        if (!requireLong(argument)) {
            return -1;
        }
        long database = longValue();
        if (database < Integer.MIN_VALUE || database > Integer.MAX_VALUE) {
            reply().error("ERR value is out of range, value must between -2147483648 and 2147483647");
            return -1;
        }
        if (database < 0 || database >= cache().databaseCount()) {
            reply().error("ERR DB index is out of range");
            return -1;
        }
        return (int) database;
    }

    /** Calls {@link #requireLong(int)} for an integer that the handler negates: the smallest one has no counterpart. */
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

    /** Parses a float, or replies the error as {@link #requireLong} does. */
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

    /** Replies the error of a command whose options make its argument count wrong. */
    public void wrongArgumentCount() {
        reply().error("ERR wrong number of arguments for '" + spec().fullName() + "' command");
    }
}
