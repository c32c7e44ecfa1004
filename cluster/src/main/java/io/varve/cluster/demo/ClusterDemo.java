package io.varve.cluster.demo;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.varve.cluster.client.ControllerClient;
import io.varve.cluster.client.RefusedException;
import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.ClusterView;
import io.varve.cluster.protocol.Command;
import io.varve.cluster.protocol.ControllerAddress;

/** A tour through a cluster on this machine. Confined to one thread. */
public final class ClusterDemo {
    private static final int CONTROLLERS = 3;
    private static final int PRIMARIES = 3;
    private static final int DEADLINE_MILLIS = 60_000;
    private static final int START_SECONDS = 60;
    private static final int PAUSE_MILLIS = 50;
    private static final int WRITING_SECONDS = 3;

    private final String launcher;
    private final List<ControllerAddress> controllers;
    private final List<Integer> ports;
    private final Consumer<String> out;

    /**
     * @param launcher the program that starts servers and controllers
     * @param firstPort of nine
     * @param out receives the lines of the tour
     */
    public ClusterDemo(String launcher, int firstPort, Consumer<String> out) {
        this.launcher = launcher;
        this.out = out;
        ports = IntStream.range(firstPort, firstPort + 2 * PRIMARIES).boxed().toList();
        controllers = IntStream.range(0, CONTROLLERS)
                .mapToObj(i -> new ControllerAddress("c" + (i + 1), "127.0.0.1", firstPort + 2 * PRIMARIES + i))
                .toList();
    }

    /**
     * Runs the tour.
     *
     * @param stay whether the cluster runs on afterwards, until the process ends
     */
    public void run(boolean stay) throws IOException, RefusedException, InterruptedException {
        for (int port : ports) {
            requireFree(port);
        }
        for (ControllerAddress controller : controllers) {
            requireFree(controller.port());
        }
        try (DemoProcesses processes = new DemoProcesses(launcher);
                ControllerClient client = new ControllerClient(controllers, DEADLINE_MILLIS)) {
            Thread cleanUp = Thread.ofPlatform().unstarted(processes::close);
            Runtime.getRuntime().addShutdownHook(cleanUp);
            tour(processes, client, stay);
        }
        out.accept("");
        out.accept("All processes have ended, and their folder is removed. With --stay the cluster runs on.");
    }

    private void tour(DemoProcesses processes, ControllerClient client, boolean stay)
            throws IOException, RefusedException, InterruptedException {
        start(processes, client);
        try (DemoWriter writer = new DemoWriter(ports)) {
            write(writer);
            failOver(processes, client, writer);
        }
        if (stay) {
            out.accept("");
            out.accept("The cluster runs until you press Ctrl-C: redis-cli -c -p " + ports.getFirst()
                    + ", or any client of Redis Cluster");
            out.accept("Its controllers: " + controllerAddresses() + " (" + launcher
                    + " cluster status --controllers " + controllers.getFirst().address() + ")");
            new CountDownLatch(1).await();
        }
    }

    private static void requireFree(int port) {
        try (ServerSocket free = new ServerSocket()) {
            free.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        } catch (IOException taken) {
            throw new IllegalArgumentException("port " + port + " is in use: choose the first of nine free ports with"
                    + " --port", taken);
        }
    }

    private String controllerAddresses() {
        return controllers.stream().map(ControllerAddress::address).collect(Collectors.joining(","));
    }

    // --- the steps

    private void start(DemoProcesses processes, ControllerClient client) throws IOException, RefusedException {
        out.accept("1. Three controllers, on the ports " + controllers.getFirst().port() + " to "
                + controllers.getLast().port() + ": they own the slot map, and grant leases.");
        String peers = controllers.stream().map(one -> one.id() + "@" + one.address())
                .collect(Collectors.joining(","));
        for (ControllerAddress controller : controllers) {
            processes.start(controller.port(), "controller", List.of("--peers", peers));
        }
        out.accept("   " + client.view().leaderId() + " leads.");
        out.accept("2. Six servers, on the ports " + ports.getFirst() + " to " + ports.getLast() + ":");
        out.accept("   " + launcher + " serve --port N --cluster-enabled yes --cluster-controllers "
                + controllerAddresses());
        for (int port : ports) {
            processes.start(port, "serve", List.of("--cluster-enabled", "yes", "--cluster-controllers",
                    controllerAddresses(), "--maxmemory", "64mb", "--save", ""));
        }
        await(processes, "the servers register", () -> client.view().map().members().size() == ports.size());
        out.accept("3. Three of them get the slots, the others become their replicas:");
        out.accept("   " + launcher + " cluster create --controllers " + controllerAddresses() + " --replicas 1 "
                + ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(" ")));
        List<Member> members = ports.stream().map(port -> member(client, port)).toList();
        for (int i = 0; i < PRIMARIES; i++) {
            client.change(new Command.AssignSlots(List.of(new SlotRange(HashSlot.COUNT * i / PRIMARIES,
                    HashSlot.COUNT * (i + 1) / PRIMARIES - 1)), members.get(i).id()));
        }
        for (int i = PRIMARIES; i < members.size(); i++) {
            client.change(new Command.Replicate(members.get(i).id(), members.get(i - PRIMARIES).id()));
        }
        awaitServing(processes, client);
        print(client.view());
    }

    private void write(DemoWriter writer) throws InterruptedException {
        out.accept("");
        out.accept("4. A client increments 100 counters, which lie on all members.");
        for (int second = 0; second < WRITING_SECONDS; second++) {
            long before = writer.acknowledged();
            TimeUnit.SECONDS.sleep(1);
            out.accept("   " + (writer.acknowledged() - before) + " increments in a second, " + writer.failed()
                    + " errors so far");
        }
    }

    private void failOver(DemoProcesses processes, ControllerClient client, DemoWriter writer)
            throws IOException, InterruptedException {
        Member victim = Objects.requireNonNull(client.view().map().owner(HashSlot.of(DemoWriter.key(0))));
        out.accept("");
        out.accept("5. kill -9 for the primary at port " + victim.port() + ", which has " + DemoWriter.key(0) + ".");
        long errors = writer.failed();
        long killed = System.nanoTime();
        processes.kill(victim.port());
        try (DemoClient probe = new DemoClient(ports)) {
            await(processes, "a replica takes over", () -> accepts(probe));
        }
        out.accept("   " + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - killed)
                + " ms later its replica accepts the first write.");
        long after = writer.acknowledged();
        await(processes, "the client goes on", () -> writer.acknowledged() > after);
        out.accept("   The client has seen " + (writer.failed() - errors) + " errors meanwhile, the last one: "
                + writer.lastError());
        print(client.view());
        out.accept("");
        out.accept("6. It starts again, empty, and becomes a replica of its successor.");
        processes.startAgain(victim.port());
        awaitServing(processes, client);
        print(client.view());
    }

    private static boolean accepts(DemoClient probe) {
        try {
            return probe.call("SET", "probe:{" + DemoWriter.key(0) + "}", "1").equals("+OK");
        } catch (IOException notYet) {
            return false;
        }
    }

    // --- waiting and printing

    /** A condition for the next step of the tour. */
    @FunctionalInterface
    private interface Condition {
        boolean holds() throws IOException;
    }

    private static void await(DemoProcesses processes, String what, Condition condition) throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (!condition.holds()) {
            for (int port : processes.ended()) {
                throw new IOException("the process at port " + port + " has ended: " + processes.lastLine(port));
            }
            if (System.nanoTime() - end >= 0) {
                throw new IOException("waited " + START_SECONDS + " s until " + what);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS));
        }
    }

    private static void awaitServing(DemoProcesses processes, ControllerClient client) throws IOException {
        await(processes, "all members serve", () -> {
            ClusterView view = client.view();
            return view.map().members().stream().map(member -> view.liveness().get(member.id()))
                    .allMatch(seen -> seen != null && seen.leaseMillis() > 0 && seen.offset() >= 0);
        });
    }

    private static Member member(ControllerClient client, int port) {
        try {
            return client.view().map().members().stream().filter(member -> member.port() == port).findFirst()
                    .orElseThrow();
        } catch (IOException failed) {
            throw new java.io.UncheckedIOException(failed);
        }
    }

    private void print(ClusterView view) {
        SlotMap map = view.map();
        for (Member primary : map.members()) {
            if (primary.isPrimary()) {
                List<String> replicas = new ArrayList<>();
                for (Member replica : map.replicas(primary)) {
                    ClusterView.Liveness seen = view.liveness().get(replica.id());
                    replicas.add(replica.port() + (seen != null && seen.alive() ? "" : " (dead)"));
                }
                List<SlotRange> slots = map.slots(primary);
                out.accept("   primary " + primary.port() + ", slots " + slots.getFirst().first() + " to "
                        + slots.getLast().last() + ", replica " + String.join(", ", replicas));
            }
        }
    }
}
