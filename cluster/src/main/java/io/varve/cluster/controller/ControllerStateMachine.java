package io.varve.cluster.controller;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;

import io.varve.cluster.protocol.ChangeResult;
import io.varve.cluster.protocol.Command;
import io.varve.cluster.protocol.CommandCodec;
import io.varve.cluster.protocol.ControllerGroup;
import io.varve.cluster.protocol.Query;
import io.varve.cluster.protocol.QueryCodec;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.MD5FileUtil;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cluster's state as Ratis's state machine. Ratis's updater thread writes; any thread reads.
 *
 * <p>Queries and the admission of commands belong to the leader, and are delegated to {@link Leader}.
 */
final class ControllerStateMachine extends BaseStateMachine {
    private static final Logger LOG = LoggerFactory.getLogger(ControllerStateMachine.class);

    /** What only the leading controller does. */
    interface Leader {
        /** @throws IOException if the cluster's present situation forbids the command */
        void admit(Command command) throws IOException;

        /** A command has been applied, on any controller. */
        void applied(Command command, ChangeResult result);

        /** The log cannot be written: this controller must not go on. */
        void logFailed(Throwable cause);

        /** Ratis has closed this controller's part of the group: after {@link Controller#close}, or on a failure. */
        void shutDown();

        /** Replies to a query. */
        CompletableFuture<byte[]> query(Query query);
    }

    private final Leader leader;
    private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
    private volatile ClusterState state = ClusterState.EMPTY;

    ControllerStateMachine(Leader leader) {
        this.leader = leader;
    }

    ClusterState state() {
        return state;
    }

    @Override
    public void initialize(RaftServer server, RaftGroupId group, RaftStorage raftStorage) throws IOException {
        super.initialize(server, group, raftStorage);
        getLifeCycle().transition(LifeCycle.State.STARTING);
        storage.init(raftStorage);
        load(storage.getLatestSnapshot());
        getLifeCycle().transition(LifeCycle.State.RUNNING);
    }

    /** Ratis is about to install a snapshot of the leader, and requires this state. */
    @Override
    public void pause() {
        getLifeCycle().transition(LifeCycle.State.PAUSING);
        getLifeCycle().transition(LifeCycle.State.PAUSED);
    }

    /** Ratis has installed a snapshot of the leader. */
    @Override
    public void reinitialize() throws IOException {
        load(storage.loadLatestSnapshot());
        getLifeCycle().transition(LifeCycle.State.STARTING);
        getLifeCycle().transition(LifeCycle.State.RUNNING);
    }

    @Override
    public void notifyServerShutdown(RoleInfoProto role, boolean allServer) {
        leader.shutDown();
    }

    private void load(@Nullable SingleFileSnapshotInfo snapshot) throws IOException {
        if (snapshot == null) {
            return;
        }
        Path file = snapshot.getFile().getPath();
        try {
            state = ClusterStateCodec.decode(Files.readAllBytes(file));
        } catch (IOException damaged) {
            throw new IOException(file + ": " + damaged.getMessage(), damaged);
        }
        setLastAppliedTermIndex(snapshot.getTermIndex());
    }

    @Override
    public void notifyLogFailed(Throwable cause, @Nullable LogEntryProto entry) {
        leader.logFailed(cause);
    }

    @Override
    public StateMachineStorage getStateMachineStorage() {
        return storage;
    }

    @Override
    public long takeSnapshot() throws IOException {
        // Entries without a command, such as that of a new leader, move the position only.
        TermIndex position = getLastAppliedTermIndex();
        if (position.getIndex() < 0) {
            return RaftLog.INVALID_LOG_INDEX;
        }
        File file = storage.getSnapshotFile(position.getTerm(), position.getIndex());
        Path written = Path.of(file.getPath() + ".new");
        Files.write(written, ClusterStateCodec.encode(state));
        try (FileChannel channel = FileChannel.open(written, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
        Files.move(written, file.toPath(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        MD5Hash digest = MD5FileUtil.computeAndSaveMd5ForFile(file);
        storage.updateLatestSnapshot(new SingleFileSnapshotInfo(new FileInfo(file.toPath(), digest), position));
        return position.getIndex();
    }

    @Override
    public TransactionContext startTransaction(RaftClientRequest request) throws IOException {
        TransactionContext transaction = super.startTransaction(request);
        try {
            leader.admit(CommandCodec.decode(ControllerGroup.bytes(request.getMessage())));
        } catch (IOException refused) {
            transaction.setException(refused);
        }
        return transaction;
    }

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
        LogEntryProto entry = transaction.getLogEntry();
        TermIndex position = TermIndex.valueOf(entry);
        Command command;
        try {
            command = CommandCodec.decode(entry.getStateMachineLogEntry().getLogData().toByteArray());
        } catch (IOException unreadable) {
            // Every controller of this version skips it. startTransaction lets none into the log.
            LOG.error("Entry {} of the log is no command: {}", position, unreadable.getMessage());
            updateLastAppliedTermIndex(position);
            return CompletableFuture.failedFuture(unreadable);
        }
        ClusterState.Outcome outcome = state.apply(command, position.getTerm(), position.getIndex());
        state = outcome.state();
        updateLastAppliedTermIndex(position);
        leader.applied(command, outcome.result());
        return CompletableFuture.completedFuture(ControllerGroup.message(CommandCodec.encode(outcome.result())));
    }

    @Override
    public CompletableFuture<Message> query(Message request) {
        try {
            return leader.query(QueryCodec.decode(ControllerGroup.bytes(request))).thenApply(ControllerGroup::message);
        } catch (IOException unreadable) {
            return CompletableFuture.failedFuture(unreadable);
        }
    }
}
