package io.varve.server.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.varve.cluster.client.ControllerClient;
import io.varve.cluster.client.RefusedException;
import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.ClusterView;
import io.varve.cluster.protocol.Command;
import io.varve.cluster.protocol.ControllerAddress;
import io.varve.server.cluster.machine.TestDisk;
import io.varve.server.cluster.machine.TestNetwork;
import io.varve.server.testing.RawClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Controllers and members as processes, which a test kills, stops and starts. Confined to the test's thread. */
final class ProcessCluster implements AutoCloseable {
    /** The default of the controllers. On a slow machine a member may miss it: the test must expect a fail-over. */
    static final int LEASE_MILLIS = 1_000;
    /** So long that a member of a slow machine keeps its lease, and only a death that a test causes fails it over. */
    static final int LONG_LEASE_MILLIS = 5_000;
    private static final int DEADLINE_MILLIS = 60_000;
    private static final int WAIT_SECONDS = 120;

    private final Path folder;
    private final TestNetwork network;
    private final List<ControllerAddress> addresses = new ArrayList<>();
    private final List<ClusterProcess> controllers = new ArrayList<>();
    private final List<ClusterProcess> members = new ArrayList<>();
    private final List<TestDisk> disks = new ArrayList<>();
    private final ControllerClient client;

    private ProcessCluster(Path folder, TestNetwork network, int controllerCount)
            throws IOException, InterruptedException {
        this.folder = folder;
        this.network = network;
        List<Integer> ports = freePorts(controllerCount);
        for (int i = 0; i < controllerCount; i++) {
            addresses.add(new ControllerAddress("c" + (i + 1), network.host(network.addHost()), ports.get(i)));
        }
        client = new ControllerClient(addresses, DEADLINE_MILLIS);
    }

    /**
     * Starts a cluster with long leases, whose slots are divided among its primaries.
     *
     * @param replicaCount of each primary; the members behind the primaries are the replicas of the first, the second
     *     and so on
     */
    static ProcessCluster start(Path folder, int controllerCount, int primaryCount, int replicaCount)
            throws Exception {
        return start(folder, TestNetwork.loopback(), LONG_LEASE_MILLIS, controllerCount, primaryCount, replicaCount);
    }

    /** As {@link #start(Path, int, int, int)}, on a network of its own, which the cluster closes. */
    static ProcessCluster start(Path folder, TestNetwork network, int leaseMillis, int controllerCount,
            int primaryCount, int replicaCount) throws Exception {
        ProcessCluster cluster = new ProcessCluster(folder, network, controllerCount);
        try {
            for (int i = 0; i < controllerCount; i++) {
                ControllerAddress address = cluster.addresses.get(i);
                int host = i;
                cluster.controllers.add(ClusterProcess.controller(command -> network.on(host, command),
                        cluster.addresses, address, leaseMillis,
                        Files.createDirectories(folder.resolve(address.id()))));
            }
            for (ClusterProcess controller : cluster.controllers) {
                controller.awaitReady();
            }
            cluster.addMembers(primaryCount * (replicaCount + 1));
            cluster.divide(primaryCount);
            cluster.awaitServing();
            return cluster;
        } catch (Exception failed) {
            cluster.close();
            throw failed;
        }
    }

    private static List<Integer> freePorts(int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            }
            return sockets.stream().map(ServerSocket::getLocalPort).toList();
        } finally {
            for (ServerSocket socket : sockets) {
                socket.close();
            }
        }
    }

    /**
     * Starts members, which register as primaries without slots. Of two neighbours, one has a log of its changes. On a
     * {@link TestNetwork} of several hosts, each has a {@link TestDisk}.
     */
    void addMembers(int count) throws IOException, InterruptedException {
        int first = members.size();
        for (int port : freePorts(count)) {
            int host = network.addHost();
            int number = members.size();
            Path own = Files.createDirectories(folder.resolve("m" + number));
            if (network.hasNamespaces()) {
                disks.add(TestDisk.at(own));
            }
            members.add(ClusterProcess.member(command -> network.on(host, command), network.host(host),
                    controllerSetting(), port, own, number % 2 == 1));
        }
        List<ClusterProcess> added = members.subList(first, members.size());
        await().atMost(java.time.Duration.ofSeconds(WAIT_SECONDS)).until(() -> {
            Set<Integer> registered = view().map().members().stream().map(Member::port).collect(Collectors.toSet());
            return registered.containsAll(added.stream().map(ClusterProcess::port).toList());
        });
    }

    /** Starts one more replica of the first primary, whichever member that is by then. */
    void addReplica() throws IOException, InterruptedException {
        addMembers(1);
        String added = id(members.size() - 1);
        await().atMost(java.time.Duration.ofSeconds(WAIT_SECONDS)).ignoreExceptions().untilAsserted(() -> client
                .change(new Command.Replicate(added, id(primaries().getFirst()))));
    }

    String controllerSetting() {
        return addresses.stream().map(one -> one.id() + "@" + one.address()).collect(Collectors.joining(","));
    }

    private void divide(int primaries) throws Exception {
        for (int i = 0; i < primaries; i++) {
            client.change(new Command.AssignSlots(List.of(new SlotRange(HashSlot.COUNT * i / primaries,
                    HashSlot.COUNT * (i + 1) / primaries - 1)), id(i)));
        }
        // After that: a primary that is late with a heartbeat may be failed over as soon as it has a replica.
        for (int i = primaries; i < members.size(); i++) {
            client.change(new Command.Replicate(id(i), id(i % primaries)));
        }
    }

    /** Waits until each primary has a lease, and each replica that runs has its data. */
    void awaitServing() {
        await().atMost(java.time.Duration.ofSeconds(WAIT_SECONDS)).ignoreExceptions().untilAsserted(() -> {
            ClusterView view = view();
            for (Member member : view.map().members()) {
                ClusterView.Liveness liveness = view.liveness().get(member.id());
                assertThat(liveness).as(member.address()).isNotNull();
                assertThat(liveness.leaseMillis()).as("lease of " + member.address()).isPositive();
                assertThat(liveness.offset()).as("offset of " + member.address()).isNotNegative();
            }
            for (ClusterProcess member : members) {
                if (member.isRunning()) {
                    try (RawClient one = new RawClient(member.host(), member.port())) {
                        assertThat(one.command("CLUSTER", "INFO")).contains("cluster_state:ok");
                    }
                }
            }
        });
    }

    // --- what a test sees

    ClusterView view() throws IOException {
        return client.view();
    }

    SlotMap map() throws IOException {
        return view().map();
    }

    ControllerClient controllerClient() {
        return client;
    }

    /** Makes a change. */
    void change(Command command) throws IOException, RefusedException {
        client.change(command);
    }

    /** The ID of a member, by its number in the order of the start. */
    String id(int number) throws IOException {
        int port = members.get(number).port();
        return map().members().stream().filter(member -> member.port() == port).findFirst().orElseThrow().id();
    }

    /** The number of the member that owns the slot of a key. */
    int owner(String key) throws IOException {
        Member owner = map().owner(HashSlot.of(key));
        for (int i = 0; i < members.size(); i++) {
            if (owner != null && members.get(i).port() == owner.port()) {
                return i;
            }
        }
        return -1;
    }

    /** The numbers of the primaries that have slots. */
    List<Integer> primaries() throws IOException {
        SlotMap map = map();
        List<Integer> primaries = new ArrayList<>();
        for (int i = 0; i < members.size(); i++) {
            Member member = map.member(id(i));
            if (member != null && !map.slots(member).isEmpty()) {
                primaries.add(i);
            }
        }
        return primaries;
    }

    /** The number of the first replica of a primary. */
    int replicaOf(int primary) throws IOException {
        String id = id(primary);
        for (int i = 0; i < members.size(); i++) {
            Member member = map().member(id(i));
            if (member != null && id.equals(member.primaryId())) {
                return i;
            }
        }
        throw new IllegalStateException("member " + primary + " has no replica");
    }

    /** The number of a member's host in the {@link TestNetwork}. */
    int hostOfMember(int number) {
        return controllers.size() + number;
    }

    /** The number of the controller that leads. */
    int leader() throws IOException {
        String id = view().leaderId();
        return addresses.stream().map(ControllerAddress::id).toList().indexOf(id);
    }

    int memberCount() {
        return members.size();
    }

    ClusterProcess member(int number) {
        return members.get(number);
    }

    /** The disk of a member, if the network has hosts. */
    TestDisk diskOfMember(int number) {
        return disks.get(number);
    }

    int controllerCount() {
        return controllers.size();
    }

    ClusterProcess controller(int number) {
        return controllers.get(number);
    }

    /** What all processes have written to standard error. */
    String errors() throws IOException {
        StringBuilder errors = new StringBuilder();
        for (ClusterProcess process : controllers) {
            errors.append(process.errors());
        }
        for (ClusterProcess process : members) {
            errors.append("--- ").append(process.port()).append('\n').append(process.errors());
        }
        return errors.toString();
    }

    @Override
    public void close() throws IOException {
        for (ClusterProcess process : members) {
            process.close();
        }
        for (ClusterProcess process : controllers) {
            process.close();
        }
        client.close();
        for (TestDisk disk : disks) {
            disk.close();
        }
        network.close();
    }
}
