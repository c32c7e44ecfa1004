package io.varve.cluster.cli;

import java.io.IOException;
import java.util.concurrent.Callable;

import io.varve.cluster.client.RefusedException;
import io.varve.cluster.demo.ClusterDemo;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code cluster demo}. Confined to the main thread. */
@Command(name = "demo", mixinStandardHelpOptions = true, header = "Starts a cluster on this machine, writes to it, kills a primary, and shows what happens.", description = "Three controllers, three primaries and three replicas, about 1 GB of memory. Nothing remains of it afterwards.")
final class DemoMain implements Callable<Integer> {
    @Option(names = "--port", paramLabel = "N", defaultValue = "7000", description = "the first of nine ports (${DEFAULT-VALUE})")
    private int port;
    @Option(names = "--stay", description = "lets the cluster run after the tour, until Ctrl-C")
    private boolean stay;
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException, RefusedException, InterruptedException {
        new ClusterDemo(System.getProperty("varve.executable", "varve"), port,
                line -> spec.commandLine().getOut().println(line)).run(stay);
        return 0;
    }
}
