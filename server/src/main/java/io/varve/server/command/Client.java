package io.varve.server.command;

import java.net.InetAddress;

import io.varve.memory.CacheSession;
import io.varve.server.acl.Account;
import io.varve.server.acl.User;
import io.varve.server.blocking.Pass;
import io.varve.server.blocking.Waiter;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.tracking.Tracker;
import org.jspecify.annotations.Nullable;

/**
 * The state of one connection: who it is and how it is to be answered. Single-writer its event loop, many readers
 * (CLIENT LIST): the fields are volatile where a stale value would be wrong, plain where it would only be late.
 */
public final class Client {
    /** How CLIENT REPLY is set. */
    public enum ReplyMode {
        ON, OFF,
        /** The reply of this very command is left out, and the next command's is to be. */
        SKIP_NEXT,
        /** The reply of this command is left out. */
        SKIP
    }

    private final long id;
    private final Clients all;
    private final Connection connection;
    private final String address;
    private final String localAddress;
    private final long createdMillis;
    private volatile String name = "";
    private volatile String libraryName = "";
    private volatile String libraryVersion = "";
    private volatile int database;
    private volatile int protocol = 2;
    private volatile Account account;
    private volatile boolean authenticated;
    private volatile boolean killed;
    private volatile @Nullable Suspension suspension;
    private volatile @Nullable Waiter waiter;
    private volatile long waitingArgumentBytes;
    private @Nullable Pass pass;
    private @Nullable BlockingCall blockingCall;
    private volatile boolean noEvict;
    private boolean noTouch;
    private int writesInto = CacheSession.AUTOMATIC;
    private boolean closing;
    private long waitsToPublishSinceMillis;
    private ReplyMode replyMode = ReplyMode.ON;
    private final Watch watch;
    private final Subscriptions subscriptions;
    private volatile @Nullable Tracker tracker;
    private @Nullable Transaction transaction;
    private volatile int queuedCommands = -1;
    private volatile long queuedBytes;
    private volatile String lastCommand = "NULL";
    private volatile long lastInteractionMillis;
    private volatile int lastArgumentCount;

    /**
     * @param all           the clients of which it is one
     * @param watch         what it watches: nothing yet
     * @param subscriptions what it listens to: nothing yet
     * @param account       of the default user
     */
    Client(Clients all, Connection connection, String address, String localAddress, long createdMillis, Watch watch,
            Subscriptions subscriptions, Account account) {
        this.all = all;
        this.watch = watch;
        this.subscriptions = subscriptions;
        this.account = account;
        authenticated = account.user().admitsAnyone();
        id = all.nextId();
        this.connection = connection;
        this.address = address;
        this.localAddress = localAddress;
        this.createdMillis = createdMillis;
        lastInteractionMillis = createdMillis;
    }

    public long id() {
        return id;
    }

    public Connection connection() {
        return connection;
    }

    /** {@code ip:port} of the other side. */
    public String address() {
        return address;
    }

    /** Whether it has come over the loopback interface or a socket in the file system, and so from this machine. */
    public boolean isLocal() {
        if (connection.isUnixSocket()) {
            return true;
        }
        String host = address.substring(0, address.lastIndexOf(':')).replace("[", "").replace("]", "");
        try {
            return InetAddress.ofLiteral(host).isLoopbackAddress();
        } catch (IllegalArgumentException noAddress) {
            return false;
        }
    }

    /** {@code ip:port} of this side. */
    public String localAddress() {
        return localAddress;
    }

    public long createdMillis() {
        return createdMillis;
    }

    public String name() {
        return name;
    }

    public void name(String value) {
        name = value;
    }

    public String libraryName() {
        return libraryName;
    }

    public void libraryName(String value) {
        libraryName = value;
    }

    public String libraryVersion() {
        return libraryVersion;
    }

    public void libraryVersion(String value) {
        libraryVersion = value;
    }

    /** The selected logical database. */
    public int database() {
        return database;
    }

    public void database(int value) {
        database = value;
    }

    public int protocol() {
        return protocol;
    }

    public void protocol(int value) {
        protocol = value;
        subscriptions.takesPushes(value > 2);
    }

    /** Whether it has said who it is, or nobody has to. */
    public boolean authenticated() {
        return authenticated || account.user().admitsAnyone();
    }

    /** By which it is here: the default user's until it has authenticated. */
    public Account account() {
        return account;
    }

    /** What it may do, at this moment. */
    public User user() {
        return account.user();
    }

    /** It has said who it is. */
    public void login(Account known) {
        account = known;
        authenticated = true;
    }

    /** It is again who it was when it came. */
    public void logout(Account defaultAccount) {
        account = defaultAccount;
        authenticated = defaultAccount.user().admitsAnyone();
    }

    /** Whether it waits for the answer of a command that was suspended. */
    public boolean waiting() {
        Suspension now = suspension;
        return now != null && now.noticed();
    }

    /** What it waits for the end of; null if it does not wait. */
    @Nullable
    Suspension suspension() {
        return suspension;
    }

    public void suspension(@Nullable Suspension value) {
        suspension = value;
    }

    /** How it waits for keys; null if it does not. */
    public @Nullable Waiter waiter() {
        return waiter;
    }

    void waiter(@Nullable Waiter value) {
        waiter = value;
    }

    /** It waits for keys, with a command whose arguments take so many bytes. */
    void waits(Waiter value, long argumentBytes) {
        waitingArgumentBytes = argumentBytes;
        waiter = value;
    }

    /** What the arguments of the command take with which it waits for keys, bytes; 0 if it does not wait. */
    long waitingArgumentBytes() {
        return waiter == null ? 0 : waitingArgumentBytes;
    }

    /** The place that its command has at the barrier while it waits there; null if it has none. */
    public @Nullable Pass pass() {
        return pass;
    }

    void pass(@Nullable Pass value) {
        pass = value;
    }

    /** The same, which is the client's no more. */
    public @Nullable Pass takePass() {
        Pass had = pass;
        if (had != null) {
            pass = null;
        }
        return had;
    }

    /** Its command that may wait for keys and has not been answered; null if there is none. */
    public @Nullable BlockingCall blockingCall() {
        return blockingCall;
    }

    /** See {@link #blockingCall()}. */
    public void blockingCall(@Nullable BlockingCall value) {
        blockingCall = value;
    }

    public boolean noEvict() {
        return noEvict;
    }

    public void noEvict(boolean value) {
        noEvict = value;
    }

    /** Whether reads leave the access clock alone (CLIENT NO-TOUCH). */
    public boolean noTouch() {
        return noTouch;
    }

    public void noTouch(boolean value) {
        noTouch = value;
    }

    /** The penalty class of what it writes, or {@link CacheSession#AUTOMATIC} (VARVE.CLASS DEFAULT). */
    public int writesInto() {
        return writesInto;
    }

    public void writesInto(int penaltyClass) {
        writesInto = penaltyClass;
    }

    /** Whether the connection is to be closed once what was replied is written. */
    public boolean closing() {
        return closing;
    }

    public void closeAfterReply() {
        closing = true;
    }

    /** Closes at once: no further command is executed, and what was not written is dropped. */
    public void abort() {
        closing = true;
        connection.kill();
    }

    /** Closes it on behalf of a client: at once, or, if that is itself, after the reply. */
    public void closeFor(Client asker) {
        if (asker == this) {
            closeAfterReply();
        } else {
            kill();
        }
    }

    /** Whether another client has killed it. */
    public boolean killed() {
        return killed;
    }

    /**
     * Closes from any thread. From now on it is not listed, and what is published does not reach it, though its connection is closed a
     * moment later.
     */
    public void kill() {
        killed = true;
        all.remove(this);
        subscriptions.cutOff();
        connection.kill();
    }

    // --- its transaction

    /** What it has queued since MULTI; null if it has sent none. */
    public @Nullable Transaction transaction() {
        return transaction;
    }

    /** MULTI: commands are queued in this from now on. */
    public void begin(Transaction begun) {
        transaction = begun;
        queuedCommands = 0;
    }

    /** So many commands are queued by now, which take so many bytes. */
    public void queued(int commands, long bytes) {
        queuedCommands = commands;
        queuedBytes = bytes;
    }

    /** What queued commands take, bytes. */
    long queuedBytes() {
        return queuedBytes;
    }

    /** How many commands are queued; -1 without MULTI. */
    int queuedCommands() {
        return queuedCommands;
    }

    /** The keys that it watches. */
    public Watch watch() {
        return watch;
    }

    /** EXEC or DISCARD, or the end: nothing is queued or watched any more. */
    public void endTransaction() {
        Transaction ended = transaction;
        if (ended != null) {
            transaction = null;
            queuedCommands = -1;
            queuedBytes = 0;
            ended.end();
        }
        watch.clear();
    }

    // --- what it listens to

    /** What it listens to, and the messages that wait for it. */
    public Subscriptions subscriptions() {
        return subscriptions;
    }

    /** Whether it listens to anything. */
    public boolean isListening() {
        return subscriptions.isListening();
    }

    /** Whether it listens and speaks RESP2, in which messages are told from replies by nothing: few commands are allowed. */
    public boolean isListeningOnly() {
        return isListening() && protocol == 2;
    }

    /** How it is told of keys that it has cached; null if it is not. */
    public @Nullable Tracker tracker() {
        return tracker;
    }

    /** From now on it is told so, or not at all (null). */
    public void tracker(@Nullable Tracker value) {
        tracker = value;
        subscriptions.tracks(value != null);
    }

    /** The number of the client that is told of them in its place; 0: itself; -1: it is not told. */
    public long redirection() {
        Tracker now = tracker;
        return now == null ? -1 : now.options().redirect();
    }

    /** Whether it is told of every command. */
    public boolean isMonitor() {
        return subscriptions.isMonitoring();
    }

    /** Whether more comes to it than replies: it listens, or is told of every command. */
    public boolean hasMessages() {
        return isListening() || isMonitor();
    }

    /** Since when it waits until it may publish, ms since the epoch; 0 if it does not. */
    public long waitsToPublishSinceMillis() {
        return waitsToPublishSinceMillis;
    }

    /** See {@link #waitsToPublishSinceMillis()}. */
    public void waitsToPublishSinceMillis(long value) {
        waitsToPublishSinceMillis = value;
    }

    /** Bytes that wait to be written to it, messages among them. */
    public long outgoingBytes() {
        return connection.outgoingBytes() + subscriptions.waitingBytes();
    }

    public ReplyMode replyMode() {
        return replyMode;
    }

    public void replyMode(ReplyMode value) {
        replyMode = value;
    }

    /** The full name of the last command. */
    public String lastCommand() {
        return lastCommand;
    }

    public long lastInteractionMillis() {
        return lastInteractionMillis;
    }

    public int lastArgumentCount() {
        return lastArgumentCount;
    }

    /** Notes that a batch ran. */
    public void interacted(String command, int argumentCount, long nowMillis) {
        lastCommand = command;
        lastArgumentCount = argumentCount;
        lastInteractionMillis = nowMillis;
    }
}
