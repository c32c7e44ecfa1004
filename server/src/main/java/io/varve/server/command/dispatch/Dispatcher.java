package io.varve.server.command.dispatch;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.ShardSet;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Key;
import io.varve.server.admin.LoopCounters;
import io.varve.server.blocking.Waiter;
import io.varve.server.command.Arguments;
import io.varve.server.command.Batch;
import io.varve.server.command.BatchArguments;
import io.varve.server.command.BatchPreparation;
import io.varve.server.command.Below;
import io.varve.server.command.Blocking;
import io.varve.server.command.BlockingCall;
import io.varve.server.command.Client;
import io.varve.server.command.CommandFlag;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.CrossProtocolGuard;
import io.varve.server.command.Errors;
import io.varve.server.command.Handler;
import io.varve.server.command.Invocation;
import io.varve.server.command.KeyBelowException;
import io.varve.server.command.Promises;
import io.varve.server.command.ServerContext;
import io.varve.server.command.Suspension;
import io.varve.server.command.Transaction;
import io.varve.server.events.KeyEvents;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.Shortage;
import io.varve.server.tracking.Tracker;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the commands of a batch: looks them up, binds their keys, touches ahead what they will need, and executes them in
 * order, each under the locks of its shards. Confined to its event loop.
 */
public final class Dispatcher implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Dispatcher.class);

    /** How often a command is run that found no room, counting the first time. */
    static final int MAX_ATTEMPTS = 12;
    /** Where it is not said how much it needs, or no room would help. */
    private static final int MAX_ATTEMPTS_IN_VAIN = 3;
    /** Replies are written out before they hold more than this. */
    private static final long MAX_PENDING_BYTES = 256 << 10;
    /** As often as doubling takes to the largest reply, and a few times because others were faster. */
    static final int MAX_REPLY_TRIES = 24;

    private final ServerContext server;
    private final Cache cache;
    private final CacheSession session;
    private final KeyEvents events;
    private final @Nullable Below below;
    private final HeldShards held;
    private final TransactionRunner transactions;
    private final Invocation call;
    private final ShardSet shards;
    private final LoopCounters counters;
    private final CommandTimes times;
    private final MonitorFeed monitors;
    private final CommandRoom room;
    private final LaterReplies later;
    private final PublishWait publishWait;
    private final BatchPreparation preparation;
    /** Whether the run began with ample room for all that its commands may write. */
    private boolean roomy;
    /** Of the last command: whether its handler ran, and whether it replied an error. */
    private boolean ran;
    private boolean failed;
    /** Whether the last command was queued in a transaction. */
    private boolean queued;
    /** What the client is to wait for after the last run. */
    private @Nullable Suspension suspension;
    private boolean missingElsewhere;
    /** How the client of this command is told of what it has cached; null if it is not. */
    private @Nullable Tracker tracker;
    /** Whether what happens to keys is told as messages. */
    private boolean tellsEvents;
    /** Whether the next command is to run after that: it has not run, or without an effect. */
    private boolean again;

    /** @param loop its event loop */
    public Dispatcher(ServerContext server, CommandTable table, LoopTasks loop) {
        this.server = server;
        cache = server.cache();
        session = cache.newSession();
        events = server.keyEvents();
        below = server.flash() == null ? null : new Below(server.flash(), session, server.argumentMemory());
        shards = new ShardSet(cache.shardCount());
        counters = server.newLoop(table.all().size());
        times = new CommandTimes(server, counters);
        monitors = new MonitorFeed(server);
        room = new CommandRoom(cache, session, times);
        later = new LaterReplies(server, session, room);
        publishWait = new PublishWait(server, session);
        held = new HeldShards(session, cache.shardCount(), loop);
        transactions = new TransactionRunner(server, session, below, counters, times, monitors, room, held);
        call = new Invocation(cache, session, server, below, transactions, counters);
        preparation = new BatchPreparation(server, table, session);
    }

    /** Gives back what is kept from command to command. Called when its event loop has ended. */
    @Override
    public void close() {
        transactions.close();
    }

    public LoopCounters counters() {
        return counters;
    }

    /** Looks the commands up, binds their keys and touches what they will need. */
    public void prepare(Batch batch, Client client) {
        preparation.prepare(batch, client.database());
    }

    /**
     * Executes commands from number {@code next} on.
     *
     * @return the first that was not executed: the count of commands, or less where the client is to be closed, or waits
     *         ({@link #takeSuspension}), or so much was replied that it is to be written out first
     */
    public int run(Batch batch, int next, Client client, ReplyWriter reply) {
        tellsEvents = events.isOn();
        Tracker tracks = client.tracker();
        if (tracks != null) {
            server.tracking().running(tracks);
        }
        try {
            return runAll(batch, next, client, reply);
        } finally {
            if (tracks != null || client.tracker() != null) {
                server.tracking().running(null);
            }
            room.pins().unpin();
            // Without a lock, and before the replies are sent.
            server.tell();
        }
    }

    private int runAll(Batch batch, int next, Client client, ReplyWriter reply) {
        int epoch = server.counterEpoch();
        counters.enter(epoch);
        session.now(server.ticker().wallMillis());
        session.touching(!client.noTouch());
        session.writesInto(client.writesInto());
        times.begin();
        // Of a run that a connection did not survive.
        call.takeErrorsToldOf();
        int i = next;
        int uncounted = next;
        int notRun = 0;
        CommandSpec last = null;
        boolean ordinary = isOrdinary(client);
        roomy = room.isThereFor(batch, next);
        while (i < batch.commandCount() && !client.closing() && suspension == null
                && reply.pendingBytes() < MAX_PENDING_BYTES) {
            CommandSpec spec = batch.spec(i);
            tracker = null;
            if (!ordinary && client.subscriptions().expectsMail()) {
                tracker = client.tracker();
                writeMessages(batch, i, client, reply);
            }
            times.before(batch, i, spec != null && spec.sharesClock(), client, session.now());
            execute(batch, i, spec, client, ordinary, reply);
            room.pins().unpin();
            if (spec == null || !spec.isPlain()) {
                ordinary = isOrdinary(client);
                if (epoch != server.counterEpoch()) {
                    // CONFIG RESETSTAT is the first command that counts.
                    epoch = server.counterEpoch();
                    counters.enter(epoch);
                    uncounted = i;
                    notRun = 0;
                }
            }
            if (again) {
                again = false;
                if (client.waiter() != null) {
                    last = null;
                    client.interacted(java.util.Objects.requireNonNull(spec).fullName(), batch.argumentCount(i),
                            session.now());
                }
                break;
            }
            if (below != null) {
                batch.endFetches();
            }
            notRun += endCommand(batch, i, spec, client) ? 0 : 1;
            last = spec == null ? last : spec;
            i++;
        }
        times.settle(batch, i, client, session.now());
        counters.add(LoopCounters.Total.COMMANDS, i - (long) uncounted - notRun);
        if (last != null) {
            client.interacted(last.fullName(), batch.argumentCount(i - 1), session.now());
        }
        return i;
    }

    /** Counts a command that is over. @return whether it ran */
    private boolean endCommand(Batch batch, int command, @Nullable CommandSpec spec, Client client) {
        if (spec == null) {
            times.skip();
            return false;
        }
        if (tracker != null) {
            TrackedReads.commandEnded(client, tracker, spec);
        }
        if (ran) {
            times.ran(batch, command, failed, client, session.now());
        } else if (queued) {
            times.queued(batch, command, client, session.now());
        } else {
            times.refused(batch, command, spec, client, session.now());
        }
        return ran;
    }

    /** Writes what is to be read before the reply of a command. */
    private void writeMessages(Batch batch, int command, Client client, ReplyWriter reply) {
        if (hasMail(client)) {
            times.settle(batch, command, client, session.now());
            later.writeMessages(client, reply);
            times.skip();
        }
    }

    /** Whether something was published, be it what its own commands have done, that is to be read before the next reply. */
    private boolean hasMail(Client client) {
        server.tell();
        return client.subscriptions().hasMail();
    }

    /** What the client waits for since the last {@link #run}, once; null if it does not wait. */
    public @Nullable Suspension takeSuspension() {
        Suspension asked = suspension;
        suspension = null;
        return asked;
    }

    /** Writes the reply of a command that was suspended and has its answer now. */
    public void answer(Suspension answered, Client client, ReplyWriter reply) {
        later.answer(answered, client, reply);
    }

    /**
     * Whether nothing is to be asked about the client before a plain command of it runs. It stays so until it sends a command of
     * another kind; what others change (its user's rules, who monitors) holds for what it sends after that was replied to, and so for
     * its next batch.
     */
    private boolean isOrdinary(Client client) {
        return client.authenticated() && client.user().isUnrestricted() && client.transaction() == null
                && client.waiter() == null && client.pass() == null && !client.subscriptions().expectsMail()
                && !monitors.isAny()
                && !tellsEvents;
    }

    /** @param ordinary {@link #isOrdinary} */
    private void execute(Batch batch, int command, @Nullable CommandSpec spec, Client client, boolean ordinary,
            ReplyWriter reply) {
        room.reserve(batch, command, client, reply);
        long mark = reply.mark();
        long errors = reply.errors();
        ran = false;
        queued = false;
        failed = false;
        if (ordinary && spec != null && spec.isPlain() && spec.acceptsCount(batch.argumentCount(command))) {
            String shortage = shortage(batch, command, spec, client);
            if (shortage != null) {
                Refusal.reply(client, spec, reply, shortage);
            } else {
                runNow(batch, command, spec, client, reply, mark);
            }
        } else if (spec == null && CrossProtocolGuard.recognizes(batch, command)) {
            // As in Redis nothing is replied, not even to the commands in front of it.
            reply.rollback(0);
            server.crossProtocolGuard().warn(client, session.now());
            client.abort();
            return;
        } else {
            // It may have waited at the barrier, and will not any more, whatever comes of it.
            call.pass(client.takePass());
            try {
                executeIfAllowed(batch, command, spec, client, reply, mark);
            } finally {
                Promises.end(call);
            }
        }
        if (suspension != null) {
            return;
        }
        failed = reply.errors() != errors + call.takeErrorsToldOf();
        if (failed) {
            server.errors().add(reply.lastError());
        }
        if (client.replyMode() != Client.ReplyMode.ON) {
            // A client that wants no replies still wants the messages, and to be told that it will get them.
            LaterReplies.leaveOut(client, reply, ran && spec != null && spec.pushes() ? reply.mark() : mark);
        }
    }

    /** The error for a command that there is no memory for; null if there is. */
    private @Nullable String shortage(Batch batch, int command, CommandSpec spec, Client client) {
        if (batch.isRefused(command)) {
            return Errors.of(batch.shortage(command));
        }
        // A command that may stop half way is checked by itself; today none may. The branch stays for the code that C2 makes:
        // a SET at a pipeline of 64 took 0.341 µs of CPU time without it and 0.310 with it, one process each.
        boolean isRoomy = roomy && (batch.keyCount(command) <= 1 || spec.isAllOrNothing());
        return !isRoomy && spec.isDenyOom() && !room.admit(batch, command, client, 0) ? Errors.OUT_OF_MEMORY : null;
    }

    private void executeIfAllowed(Batch batch, int command, @Nullable CommandSpec spec, Client client,
            ReplyWriter reply, long mark) {
        Transaction transaction = client.transaction();
        String refusal;
        boolean monitored = monitors.isAny();
        Waiter waiter = client.waiter();
        Waiter.End end = waiter == null ? null : server.blockedKeys().endOf(waiter);
        if (spec != null && spec.waitsForKeys() && client.blockingCall() == null) {
            client.blockingCall(new BlockingCall(server.ticker().nanoTime()));
        }
        BlockingCall called = client.blockingCall();
        if (end != null) {
            ran = true;
            Blocking.replyEnd(reply, end);
        } else if (called != null && called.isOver()) {
            ran = true;
            if (monitored) {
                monitors.tellIfShown(batch, command, java.util.Objects.requireNonNull(spec), client);
            }
            Blocking.replyEnd(reply, Waiter.End.TIMEOUT);
        } else if (spec == null || spec.hasSubcommands() && (batch.argumentCount(command) > 1 || spec.handler() == null)
                || !spec.acceptsCount(batch.argumentCount(command))
                || spec.isForDebugging() && !Refusal.mayDebug(server, client)) {
            Refusal.reply(client, spec, reply, Refusal.of(batch, command, spec, Refusal.mayDebug(server, client)));
            countUnknown(batch, command, spec, client);
        } else if (!client.authenticated() && !spec.has(CommandFlag.NO_AUTH)) {
            Refusal.reply(client, spec, reply, Refusal.NO_AUTH);
        } else if (transaction != null && cannotBeQueued(spec)) {
            Refusal.reply(client, spec, reply, Refusal.NOT_IN_TRANSACTION);
        } else if (!client.user().isUnrestricted()
                && (refusal = server.accessGuard().refusal(client, batch, command, spec)) != null) {
            Refusal.reply(client, spec, reply, refusal);
        } else if ((refusal = shortage(batch, command, spec, client)) != null) {
            Refusal.reply(client, spec, reply, refusal);
        } else if (!spec.isAllowedWhileListening() && client.isListeningOnly()) {
            Refusal.reply(client, spec, reply, Refusal.notWhileListening(spec));
        } else if (monitored && MonitorFeed.isKeptFrom(client, spec)) {
            Refusal.reply(client, spec, reply, MonitorFeed.NOT_FOR_MONITORS);
        } else if (transaction != null && !spec.runsAtOnce()) {
            queue(batch, command, spec, client, transaction, reply);
        } else if (waiter == null && PublishWait.publishes(spec, client, tellsEvents) && publishWait.isNeeded(client)) {
            suspension = publishWait.begin(client, spec, new BatchArguments(batch, command));
            again = true;
        } else {
            // Who has waited for a key: its command was told of when it began to.
            String toTell = monitored && waiter == null ? monitors.describe(batch, command, spec) : null;
            runNow(batch, command, spec, client, reply, mark);
            if (toTell != null && (!again || client.waiter() != null)) {
                monitors.tell(toTell, client);
            }
        }
        if (suspension != null) {
            return;
        }
        client.blockingCall(null);
        if (monitored && !ran) {
            monitors.tellRefused(batch, command, spec, client);
        }
        if (waiter != null) {
            // It has been answered, by its handler or in its place.
            server.stopWaiting(client, false);
        }
    }

    /** Those of clients that may send commands: others are told nothing of what there is. */
    private void countUnknown(Batch batch, int command, @Nullable CommandSpec spec, Client client) {
        String name = client.authenticated() ? Refusal.unknownName(batch, command, spec) : null;
        if (name != null) {
            String library = client.libraryName();
            server.unknownCommands().add(name,
                    client.address() + (library.isEmpty() ? "" : " (" + library + " " + client.libraryVersion() + ")"),
                    session.now());
        }
    }

    /** Runs its handler, unless its keys are on their way; it may ask for a suspension. */
    private void runNow(Batch batch, int command, CommandSpec spec, Client client, ReplyWriter reply, long mark) {
        ran = true;
        long errors = reply.errors();
        long written = reply.pendingBytes();
        if (below == null) {
            runLocked(batch, command, spec, client, reply, mark);
        } else if (!runWithBelow(below, batch, command, spec, client, reply, mark)) {
            return;
        }
        Suspension asked = call.takeSuspension();
        // What is to run again has written nothing: errors of an attempt before do not count, they were taken back.
        if (asked != null && (asked.replies() ? reply.errors() == errors : reply.pendingBytes() == written)) {
            suspension = asked;
            again = !asked.replies();
            if (client.waiter() != null) {
                // It has looked: what it is called for next is fetched as often as any command's keys.
                batch.endFetches();
            }
        }
    }

    private boolean cannotBeQueued(CommandSpec spec) {
        return spec.has(CommandFlag.NO_MULTI) || below != null && spec.waitsForFlash();
    }

    private void queue(Batch batch, int command, CommandSpec spec, Client client, Transaction transaction,
            ReplyWriter reply) {
        // Of what will not run nothing is kept.
        boolean inVain = transaction.failed() || client.watch().isToldBroken();
        room.pinForQueueing(batch, command, client);
        Shortage shortage = inVain
                ? Shortage.NONE
                : transaction.add(batch, command, spec, room.neededBytes(batch, command), preparation);
        if (shortage == Shortage.NONE) {
            queued = true;
            client.queued(transaction.size(), transaction.heldBytes());
            reply.simple("QUEUED");
        } else {
            Refusal.reply(client, spec, reply, Errors.of(shortage));
        }
    }

    /**
     * Runs a command once its keys are in memory, as far as they are anywhere.
     *
     * @return false if they are on their way: it has not run
     */
    private boolean runWithBelow(Below tier, Batch batch, int command, CommandSpec spec, Client client,
            ReplyWriter reply, long mark) {
        // The keys of EXEC are those that are queued.
        Transaction executed = TransactionRunner.executed(spec, client);
        Batch named = executed == null ? batch : executed.batch();
        int first = executed == null ? batch.firstKey(command) : 0;
        int count = executed == null ? batch.keyCount(command) : named.keyTotal();
        if (!tier.settle(named, first, count)) {
            return !waitsForRoom(batch, spec, client, reply);
        }
        try {
            runLocked(batch, command, spec, client, reply, mark);
        } catch (KeyBelowException missing) {
            reply.rollback(mark);
            if (!Below.mayFetch(named, first, count, executed == null ? 1 : executed.databases())) {
                // They fall as fast as they come: memory has no room for all of them at a time.
                call.dropOtherKeys();
                return !waitsForRoom(batch, spec, client, reply);
            }
            suspension = tier.hasOthers()
                    ? tier.fetchOthers(named)
                    : tier.fetch(named, first, missingElsewhere ? call.keyElsewhere() : null);
            again = true;
            return false;
        }
        return true;
    }

    /** Memory has no room for a command's keys: it is refused, but for one that waits for them anyway. @return whether that waits on */
    private boolean waitsForRoom(Batch batch, CommandSpec spec, Client client, ReplyWriter reply) {
        Waiter waiter = client.waiter();
        if (waiter == null) {
            Refusal.reply(client, spec, reply, Errors.OUT_OF_MEMORY);
            return false;
        }
        batch.endFetches();
        suspension = Blocking.putOff(server, waiter);
        again = true;
        return true;
    }

    private void runLocked(Batch batch, int command, CommandSpec spec, Client client, ReplyWriter reply, long mark) {
        BatchPreparation.rebind(session, batch, command, client.database());
        int attempt = 1;
        int tries = 1;
        long asked = 0;
        while (true) {
            call.begin(client, reply, spec, batch, command);
            try {
                runUnderLocks(batch, command, client, java.util.Objects.requireNonNull(spec.handler()));
                return;
            } catch (CacheFullException full) {
                reply.rollback(mark);
                asked = room.toAskFor(asked, full);
                if (!full.roomHelps() || attempt++ == (asked == 0 ? MAX_ATTEMPTS_IN_VAIN : MAX_ATTEMPTS)
                        || !room.mayRunAgain(batch, command, spec)
                        || !room.admitAgain(batch, command, client, asked, full.bytes())) {
                    Refusal.reply(client, spec, reply, Errors.OUT_OF_MEMORY);
                    return;
                }
            } catch (NoBufferException none) {
                if (spec.has(CommandFlag.WRITE) && (spec.otherKeys() == null || !call.changesNothing())
                        || call.mayHaveChanged()) {
                    // It may have changed something, so no error can be replied: the connection breaks.
                    throw none;
                }
                long needed = reply.copiedBytes() + none.bytes();
                reply.rollback(mark);
                room.pins().pin(batch, command, client);
                if (tries++ == MAX_REPLY_TRIES || !room.makeForReply(none, needed)) {
                    Refusal.reply(client, spec, reply, Errors.of(none));
                    return;
                }
            } catch (Arguments.TextTooLongException tooLong) {
                reply.rollback(mark);
                reply.error("ERR " + tooLong.getMessage());
                return;
            } catch (KeyBelowException missing) {
                throw missing;
            } catch (RuntimeException bug) {
                LOG.error("The command {} failed", spec.fullName(), bug);
                reply.rollback(mark);
                Refusal.reply(client, spec, reply, "ERR internal error");
                return;
            }
        }
    }

    private void runUnderLocks(Batch batch, int command, Client client, Handler handler) {
        int keys = batch.keyCount(command);
        int first = batch.firstKey(command);
        missingElsewhere = false;
        if (keys == 0) {
            runWithoutKeys(handler);
        } else if (call.usesOtherKeys()) {
            runLocking(call.allShards(), batch, command, handler);
        } else if (keys == 1) {
            Key key = batch.key(first);
            if (!session.tryLock(key)) {
                times.aside(batch, command, client, session.now());
                if (!held.lock(call, key)) {
                    return;
                }
            }
            try {
                runInMemory(batch, command, handler);
            } finally {
                session.unlock(key);
            }
        } else {
            runLockingMany(batch, command, handler);
        }
    }

    private void runWithoutKeys(Handler handler) {
        if (!Promises.holdUp(call)) {
            try {
                handler.run(call);
            } finally {
                Promises.end(call);
            }
        }
    }

    private void runInMemory(Batch batch, int command, Handler handler) {
        // A waiter looks whatever is promised to others: it takes nothing but what it was called for.
        if (call.client().waiter() == null && Promises.holdUp(call, batch, command, command + 1)) {
            return;
        }
        int first = batch.firstKey(command);
        int keys = batch.keyCount(command);
        if (below != null) {
            if (below.isAnyMissing(batch, first, keys)) {
                throw new KeyBelowException();
            }
            // What the handler itself finds missing is in another database.
            missingElsewhere = true;
        }
        handler.run(call);
        if (tracker != null) {
            TrackedReads.remember(tracker, call.spec(), batch, first, keys);
        }
    }

    private void runLockingMany(Batch batch, int command, Handler handler) {
        int first = batch.firstKey(command);
        int keys = batch.keyCount(command);
        shards.clear();
        for (int i = first; i < first + keys; i++) {
            shards.add(batch.key(i).shard());
        }
        runLocking(shards, batch, command, handler);
    }

    private void runLocking(ShardSet locked, Batch batch, int command, Handler handler) {
        if (!held.lock(call, locked)) {
            return;
        }
        try {
            runInMemory(batch, command, handler);
        } finally {
            session.unlock(locked);
        }
    }
}
