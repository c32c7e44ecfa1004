package io.varve.server.cluster.machine;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The machines of a test's cluster: one address for all processes, or one network namespace for each of them, which a
 * test can cut off. Confined to the test's thread.
 *
 * <p>Namespaces need Linux, the rights of root and the command {@code ip}.
 */
public final class TestNetwork implements AutoCloseable {
    private static final String LOOPBACK = "127.0.0.1";
    private static final int SECONDS = 10;

    private final boolean hasNamespaces;
    /** Part of all names: two tests may run at a time. */
    private final long id = ProcessHandle.current().pid() % 10_000;
    private final int subnet = (int) (id % 200) + 20;
    private final List<String> namespaces = new ArrayList<>();

    private TestNetwork(boolean hasNamespaces) {
        this.hasNamespaces = hasNamespaces;
    }

    public static TestNetwork loopback() {
        return new TestNetwork(false);
    }

    /** A bridge, to which {@link #addHost} connects hosts. */
    public static TestNetwork ofNamespaces() throws IOException, InterruptedException {
        TestNetwork network = new TestNetwork(true);
        run("ip", "link", "add", network.bridge(), "type", "bridge");
        run("ip", "addr", "add", network.address(1) + "/24", "dev", network.bridge());
        run("ip", "link", "set", network.bridge(), "up");
        return network;
    }

    /** Whether this machine allows namespaces, bridges and limits of their speed: tries each of them once. */
    public static boolean allowsNamespaces() throws InterruptedException {
        try (TestNetwork trial = ofNamespaces()) {
            int host = trial.addHost();
            trial.slowDown(host, 1_000);
            trial.speedUp(host);
            return true;
        } catch (IOException refused) {
            System.out.println("TestNetwork: all hosts have one address, because this machine has no namespaces: "
                    + refused.getMessage());
            return false;
        }
    }

    private String bridge() {
        return "vb" + id;
    }

    private String address(int last) {
        return "10.77." + subnet + "." + last;
    }

    private String device(int host) {
        return "v" + id + "h" + host;
    }

    /** Adds a host. @return its number */
    public int addHost() throws IOException, InterruptedException {
        int host = namespaces.size();
        String namespace = "varve" + id + "-" + host;
        namespaces.add(namespace);
        if (hasNamespaces) {
            run("ip", "netns", "add", namespace);
            run("ip", "link", "add", device(host), "type", "veth", "peer", "name", "eth0", "netns", namespace);
            run("ip", "link", "set", device(host), "master", bridge(), "up");
            run("ip", "-n", namespace, "link", "set", "lo", "up");
            run("ip", "-n", namespace, "addr", "add", host(host) + "/24", "dev", "eth0");
            run("ip", "-n", namespace, "link", "set", "eth0", "up");
        }
        return host;
    }

    public boolean hasNamespaces() {
        return hasNamespaces;
    }

    /** The address of a host. */
    public String host(int host) {
        return hasNamespaces ? address(host + 10) : LOOPBACK;
    }

    /** A command line that runs on a host. */
    public List<String> on(int host, List<String> command) {
        if (!hasNamespaces) {
            return command;
        }
        List<String> there = new ArrayList<>(List.of("ip", "netns", "exec", namespaces.get(host)));
        there.addAll(command);
        return there;
    }

    /** Cuts a host off from all others: packets are lost, and nobody is told. */
    public void cutOff(int host) throws IOException, InterruptedException {
        run("ip", "link", "set", device(host), "down");
    }

    /** Ends {@link #cutOff}. */
    public void reconnect(int host) throws IOException, InterruptedException {
        run("ip", "link", "set", device(host), "up");
    }

    /** Cuts two hosts off from each other. */
    public void separate(int one, int other) throws IOException, InterruptedException {
        run("ip", "-n", namespaces.get(one), "route", "add", "blackhole", host(other) + "/32");
    }

    /** Ends {@link #separate}. */
    public void join(int one, int other) throws IOException, InterruptedException {
        run("ip", "-n", namespaces.get(one), "route", "del", "blackhole", host(other) + "/32");
    }

    /** Lets a host receive only so much. */
    public void slowDown(int host, int kilobitsPerSecond) throws IOException, InterruptedException {
        run("tc", "qdisc", "add", "dev", device(host), "root", "tbf", "rate", kilobitsPerSecond + "kbit", "burst",
                "32kbit", "latency", "400ms");
    }

    /** Ends {@link #slowDown}. */
    public void speedUp(int host) throws IOException, InterruptedException {
        run("tc", "qdisc", "del", "dev", device(host), "root");
    }

    /** Runs a command to its end. */
    public static void run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        if (!process.waitFor(SECONDS, java.util.concurrent.TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output);
        }
    }

    @Override
    public void close() throws IOException {
        if (hasNamespaces) {
            try {
                for (String namespace : namespaces) {
                    run("ip", "netns", "del", namespace);
                }
                run("ip", "link", "del", bridge());
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
