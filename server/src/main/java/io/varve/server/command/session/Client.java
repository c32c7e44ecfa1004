package io.varve.server.command.session;

import java.net.InetAddress;

import io.varve.memory.CacheSession;
import io.varve.server.acl.Account;
import io.varve.server.acl.User;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.replication.Replica;
import io.varve.server.tracking.Tracker;
import org.jspecify.annotations.Nullable;

/**
 * The state of one client connection: its identity and its reply settings. Single writer its event loop, many readers
 * (CLIENT LIST). A field is volatile if a stale value would be wrong, and plain if it would only be late.
 */
public final class Client {
    /** The CLIENT REPLY mode. */
    public enum ReplyMode {
        ON, OFF,
        /** Suppresses the reply of this command and of the next one. */
        SKIP_NEXT,
        /** Suppresses the reply of this command. */
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
    private volatile boolean noEvict;
    private boolean noTouch;
    private boolean asking;
    private volatile boolean readsFromReplica;
    /** Written by the event loop that runs its commands, or that serves it while it waits. */
    private long repliesAfter;
    private boolean servedUnderLease;
    private int writesInto = CacheSession.AUTOMATIC;
    private boolean closing;
    private ReplyMode replyMode = ReplyMode.ON;
    private final Watch watch;
    private final ClientWaits waitState = new ClientWaits();
    private final Subscriptions subscriptions;
    private volatile @Nullable Tracker tracker;
    private volatile @Nullable Replica replica;
    private volatile boolean isReplica;
    private @Nullable Transaction transaction;
    private volatile int queuedCommands = -1;
    private volatile long queuedBytes;
    private volatile String lastCommand = "NULL";
    private volatile long lastInteractionMillis;
    private volatile int lastArgumentCount;

    /**
     * @param all the registry that the client belongs to
     * @param watch its watched keys: none yet
     * @param subscriptions its subscriptions: none yet
     * @param account the default user's account
     */
    public Client(Clients all, Connection connection, String address, String localAddress, long createdMillis,
            Watch watch,
            Subscriptions subscriptions, Account account) {
        this.all = all;
        this.watch = watch;
        this.subscriptions = subscriptions;
        this.account = account;
        authenticated = account.user().needsNoLogin();
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

    /** {@code ip:port} of the remote side. */
    public String address() {
        return address;
    }

    /** Whether it connected over the loopback interface or a Unix socket, and so from this machine. */
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

    /** {@code ip:port} of the local side. */
    public String localAddress() {
        return localAddress;
    }

    public long createdMillis() {
        return createdMillis;
    }

    /** The offset of the change stream that has to be durable before its replies leave; 0: none. */
    public long repliesAfter() {
        return repliesAfter;
    }

    /** See {@link #repliesAfter()}. */
    public void repliesAfter(long offset) {
        repliesAfter = Math.max(repliesAfter, offset);
    }

    /**
     * Whether replies that have not left answer commands for which this member of a cluster needed its lease. Confined
     * to its event loop.
     */
    public boolean isServedUnderLease() {
        return servedUnderLease;
    }

    /** See {@link #isServedUnderLease()}. */
    public void servedUnderLease(boolean value) {
        servedUnderLease = value;
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
        subscriptions.supportsPushes(value > 2);
    }

    /** Whether it has authenticated, or authentication is not required. */
    public boolean authenticated() {
        return authenticated || account.user().needsNoLogin();
    }

    /** Its account: the default user's until it has authenticated. */
    public Account account() {
        return account;
    }

    /** The current ACL user. */
    public User user() {
        return account.user();
    }

    /** Switches to the account after a successful authentication. */
    public void login(Account known) {
        account = known;
        authenticated = true;
    }

    /** Resets the account to its state after connecting. */
    public void logout(Account defaultAccount) {
        account = defaultAccount;
        authenticated = defaultAccount.user().needsNoLogin();
    }

    /** The conditions that it waits for. */
    public ClientWaits waitState() {
        return waitState;
    }

    public boolean noEvict() {
        return noEvict;
    }

    public void noEvict(boolean value) {
        noEvict = value;
    }

    /** Whether reads do not update access recency (CLIENT NO-TOUCH). */
    public boolean noTouch() {
        return noTouch;
    }

    public void noTouch(boolean value) {
        noTouch = value;
    }

    /** Whether its next command may use a slot that is moving to this member (ASKING). */
    public boolean isAsking() {
        return asking;
    }

    /** See {@link #isAsking()}. */
    public void asking(boolean value) {
        asking = value;
    }

    /** Whether a replica serves its reads (READONLY). */
    public boolean readsFromReplica() {
        return readsFromReplica;
    }

    /** See {@link #readsFromReplica()}. */
    public void readsFromReplica(boolean value) {
        readsFromReplica = value;
    }

    /** The penalty class of its writes, or {@link CacheSession#AUTOMATIC} (VARVE.CLASS DEFAULT). */
    public int writesInto() {
        return writesInto;
    }

    public void writesInto(int penaltyClass) {
        writesInto = penaltyClass;
    }

    /** Whether the connection closes after the pending replies are written. */
    public boolean closing() {
        return closing;
    }

    public void closeAfterReply() {
        closing = true;
    }

    /** Closes at once: no further command runs, and unwritten replies are dropped. */
    public void abort() {
        closing = true;
        connection.kill();
    }

    /** Closes on behalf of a client: after the reply if that is this client itself, else at once. */
    public void closeFor(Client requester) {
        if (requester == this) {
            closeAfterReply();
        } else {
            kill();
        }
    }

    /** Whether it has been killed. */
    public boolean killed() {
        return killed;
    }

    /**
     * Closes the client from any thread. From now on it is not in the client list and receives no published messages,
     * although its connection closes a moment later.
     */
    public void kill() {
        killed = true;
        all.remove(this);
        subscriptions.disconnect();
        connection.kill();
    }

    // --- as a replica

    /** The replica that it has described itself as; null if it has not. */
    public @Nullable Replica replica() {
        return replica;
    }

    public void replica(Replica value) {
        replica = value;
    }

    /** Whether it receives the change stream in place of replies. */
    public boolean isReplica() {
        return isReplica;
    }

    /** See {@link #isReplica()}. */
    public void becomeReplica() {
        isReplica = true;
    }

    // --- its transaction

    /** The transaction queued since MULTI; null outside MULTI. */
    public @Nullable Transaction transaction() {
        return transaction;
    }

    /** Starts queueing commands (MULTI). */
    public void begin(Transaction begun) {
        transaction = begun;
        queuedCommands = 0;
    }

    /** Updates the number and size of the queued commands. */
    public void queued(int commands, long bytes) {
        queuedCommands = commands;
        queuedBytes = bytes;
    }

    /** Size of the queued commands, bytes. */
    long queuedBytes() {
        return queuedBytes;
    }

    /** Number of queued commands; -1 outside MULTI. */
    int queuedCommands() {
        return queuedCommands;
    }

    /** Its watched keys. */
    public Watch watch() {
        return watch;
    }

    /** Takes the transaction from the client, for a caller that {@link Transaction#end ends} it. */
    public void takeTransaction() {
        transaction = null;
        queuedCommands = -1;
        queuedBytes = 0;
    }

    /** Ends the transaction and unwatches all keys, after EXEC, DISCARD or a disconnect. */
    public void endTransaction() {
        Transaction ended = transaction;
        if (ended != null) {
            takeTransaction();
            ended.end();
        }
        watch.clear();
    }

    // --- its subscriptions

    /** Its subscriptions and undelivered messages. */
    public Subscriptions subscriptions() {
        return subscriptions;
    }

    /** Whether it has any subscription. */
    public boolean isListening() {
        return subscriptions.isListening();
    }

    /** Whether it is in RESP2 subscriber mode, which allows few commands: RESP2 cannot mark messages. */
    public boolean isListeningOnly() {
        return isListening() && protocol == 2;
    }

    /** Its invalidation tracking state; null if tracking is off. */
    public @Nullable Tracker tracker() {
        return tracker;
    }

    /** Turns tracking on, or off (null). */
    public void tracker(@Nullable Tracker value) {
        tracker = value;
        subscriptions.tracks(value != null);
    }

    /** Id of the client that receives its invalidations; 0: itself; -1: tracking is off. */
    public long redirection() {
        Tracker now = tracker;
        return now == null ? -1 : now.options().redirect();
    }

    /** Whether it is a MONITOR client. */
    public boolean isMonitor() {
        return subscriptions.isMonitoring();
    }

    /** Whether it receives more than replies: it has subscriptions or is a MONITOR client. */
    public boolean hasMessages() {
        return isListening() || isMonitor();
    }

    /** Bytes that wait to be written to it, messages included. */
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

    /** Records the last command of a batch, and its time. */
    public void interacted(String command, int argumentCount, long nowMillis) {
        lastCommand = command;
        lastArgumentCount = argumentCount;
        lastInteractionMillis = nowMillis;
    }
}
