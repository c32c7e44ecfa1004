package io.varve.cluster.controller;

import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.protocol.ChangeResult;
import io.varve.cluster.protocol.ClusterView;
import io.varve.cluster.protocol.Command;
import io.varve.cluster.protocol.CommandCodec;
import io.varve.cluster.protocol.ControllerGroup;
import io.varve.cluster.protocol.Query;
import io.varve.cluster.protocol.QueryCodec;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.rpc.CallId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.util.ExitUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A controller: one process of the cluster's control plane. Thread-safe.
 *
 * <p>It replicates the {@link ClusterState} through Raft. The leader also keeps the leases, and fails over.
 */
public final class Controller implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Controller.class);

    static {
        // Ratis would end the JVM if its port is taken, and sets a handler that ends it for any uncaught exception.
        Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
        ExitUtils.disableSystemExit();
        Thread.setDefaultUncaughtExceptionHandler(handler);
    }

    private final ControllerConfig config;
    private final LeaseTable leases;
    private final LeadershipCheck leadership;
    private final ControllerStateMachine stateMachine;
    private final RaftServer server;
    private final RaftClient peers;
    private final ExecutorService threads;
    private final FailoverMonitor monitor;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile boolean isClosing;

    private Controller(ControllerConfig config, long entriesPerSnapshot) throws IOException {
        this.config = config;
        LeaseTimes times = config.times();
        stateMachine = new ControllerStateMachine(new LeaderDuties());
        leases = new LeaseTable(times, System::nanoTime, stateMachine::state);
        threads = Executors.newVirtualThreadPerTaskExecutor();
        peers = RaftClient.newBuilder().setRaftGroup(ControllerGroup.of(config.peers()))
                .setProperties(ControllerGroup.properties(times.leaseMillis() / 2))
                .setRetryPolicy(RetryPolicies.noRetry()).build();
        leadership = new LeadershipCheck(this::leadingTerm, config.peers().stream()
                .filter(peer -> !peer.id().equals(config.id()))
                .<Supplier<CompletableFuture<Long>>>map(
                        peer -> new PeerTerms(peers, RaftPeerId.valueOf(peer.id()), threads))
                .toList());
        Files.createDirectories(config.directory());
        server = RaftServer.newBuilder().setServerId(RaftPeerId.valueOf(config.id()))
                .setGroup(ControllerGroup.of(config.peers())).setStateMachine(stateMachine)
                .setProperties(RaftSettings.of(config, entriesPerSnapshot)).setOption(RaftStorage.StartupOption.RECOVER)
                .build();
        monitor = new FailoverMonitor(times, leases, stateMachine::state, this::leadingTerm, this::propose);
    }

    /**
     * Starts a controller. A directory that has the data of an earlier run continues it.
     *
     * @throws IOException if the directory or the port cannot be used
     */
    public static Controller start(ControllerConfig config) throws IOException {
        return start(config, RaftSettings.ENTRIES_PER_SNAPSHOT);
    }

    static Controller start(ControllerConfig config, long entriesPerSnapshot) throws IOException {
        Controller controller = new Controller(config, entriesPerSnapshot);
        try {
            controller.server.start();
            controller.monitor.start();
            return controller;
        } catch (ExitUtils.ExitException | CompletionException refused) {
            controller.close();
            throw new IOException(refused.getMessage(), refused.getCause());
        } catch (IOException | RuntimeException failed) {
            controller.close();
            throw failed;
        }
    }

    /** The slot map that this controller has applied. It is the newest one only if this controller leads. */
    public SlotMap map() {
        return stateMachine.state().map();
    }

    /** Whether this controller leads, as far as it knows. */
    public boolean isLeader() {
        return leadingTerm() != LeadershipCheck.NOT_CONFIRMED;
    }

    /**
     * Completes when the controller has ended: normally after {@link #close}, with the cause on a failure, as of
     * its disk.
     */
    public CompletableFuture<Void> ended() {
        return ended.copy();
    }

    private long leadingTerm() {
        try {
            DivisionInfo info = server.getDivision(ControllerGroup.ID).getInfo();
            long term = info.getCurrentTerm();
            return info.isLeader() && info.isLeaderReady() && info.getCurrentTerm() == term
                    ? term
                    : LeadershipCheck.NOT_CONFIRMED;
        } catch (IOException closed) {
            return LeadershipCheck.NOT_CONFIRMED;
        }
    }

    /** Proposes a command as the leader; no other controller takes it over. */
    private CompletableFuture<ChangeResult> propose(Command command) {
        try {
            return server.submitClientRequestAsync(RaftClientRequest.newBuilder().setClientId(ClientId.randomId())
                    .setServerId(server.getId()).setGroupId(ControllerGroup.ID).setCallId(CallId.getAndIncrement())
                    .setMessage(ControllerGroup.message(CommandCodec.encode(command)))
                    .setType(RaftClientRequest.writeRequestType()).build()).thenCompose(Controller::result);
        } catch (IOException failed) {
            return CompletableFuture.failedFuture(failed);
        }
    }

    private static CompletableFuture<ChangeResult> result(RaftClientReply reply) {
        try {
            return reply.isSuccess()
                    ? CompletableFuture.completedFuture(
                            CommandCodec.decodeResult(ControllerGroup.bytes(reply.getMessage())))
                    : CompletableFuture.failedFuture(reply.getException());
        } catch (IOException unreadable) {
            return CompletableFuture.failedFuture(unreadable);
        }
    }

    /**
     * Ends this controller. Ratis would go on without a log, and even lead; a restart on a disk with room reads what is
     * there and gets the rest from the others.
     */
    private void fail(Throwable cause) {
        if (ended.completeExceptionally(cause)) {
            LOG.error("This controller cannot go on, and ends: {}", cause.toString());
            Thread.ofPlatform().name("varve-controller-end").start(() -> {
                try {
                    close();
                } catch (IOException failed) {
                    LOG.error("The controller did not end properly: {}", failed.toString());
                }
            });
        }
    }

    @Override
    public void close() throws IOException {
        isClosing = true;
        monitor.close();
        try (threads; peers) {
            server.close();
        } finally {
            ended.complete(null);
        }
    }

    /** What the leader does for clients. */
    private final class LeaderDuties implements ControllerStateMachine.Leader {
        @Override
        public void admit(Command command) throws IOException {
            if (command instanceof Command.Remove(String id, boolean force) && force) {
                SlotMap map = stateMachine.state().map();
                Member member = map.member(id);
                long term = leadingTerm();
                if (term == LeadershipCheck.NOT_CONFIRMED) {
                    throw new IOException("controller " + config.id() + " does not lead");
                }
                leases.begin(term);
                if (member != null && map.replicas(member).isEmpty() && !map.slots(member).isEmpty()
                        && member.kind() == Member.Kind.VARVE && !leases.fenceIfExpired(id, term)) {
                    throw new IOException("member " + id + " may have a lease: stop it, and repeat this after "
                            + config.leaseMillis() + " ms");
                }
            }
        }

        @Override
        public void applied(Command command, ChangeResult result) {
            // The fence of a primary with replicas is that of a fail-over, and ends with it.
            if (command instanceof Command.Remove(String id, boolean force) && force && hasNoReplicas(id)) {
                leases.unfence(id);
            }
        }

        private boolean hasNoReplicas(String id) {
            SlotMap map = stateMachine.state().map();
            Member member = map.member(id);
            return member == null || map.replicas(member).isEmpty();
        }

        @Override
        public void logFailed(Throwable cause) {
            fail(cause);
        }

        @Override
        public void shutDown() {
            if (!isClosing) {
                fail(new IOException("Ratis has closed the group: its log has the cause"));
            }
        }

        @Override
        public CompletableFuture<byte[]> query(Query query) {
            if (query instanceof Query.Term) {
                return CompletableFuture.completedFuture(QueryCodec.encodeTerm(currentTerm()));
            }
            long received = System.nanoTime();
            long term = leadingTerm();
            if (term != LeadershipCheck.NOT_CONFIRMED) {
                leases.begin(term);
            }
            return leadership.confirm().thenApply(confirmed -> confirmed == LeadershipCheck.NOT_CONFIRMED
                    || confirmed != term ? QueryCodec.retry(query) : reply(query, received, confirmed));
        }

        private byte[] reply(Query query, long received, long term) {
            if (query instanceof Query.Heartbeat heartbeat) {
                return QueryCodec.encode(leases.heartbeat(heartbeat, received, term));
            }
            ClusterState state = stateMachine.state();
            return QueryCodec.encode(new ClusterView(config.id(), term, state.map(), state.identifiers(),
                    leases.liveness()));
        }

        private long currentTerm() {
            try {
                return server.getDivision(ControllerGroup.ID).getInfo().getCurrentTerm();
            } catch (IOException closed) {
                return LeadershipCheck.NOT_CONFIRMED;
            }
        }
    }
}
