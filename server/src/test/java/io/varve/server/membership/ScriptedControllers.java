package io.varve.server.membership;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.cluster.client.ControllersUnavailableException;
import io.varve.cluster.client.RefusedException;
import io.varve.cluster.protocol.ClusterView.Liveness;
import io.varve.cluster.protocol.Command;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** Controllers that answer each command as a test says, and make it wait until then. Thread-safe. */
final class ScriptedControllers implements HandoverControllers {
    static final long GENERATION = 11;
    static final String REFUSAL = "the cluster has changed";
    static final String SILENCE = "no controller leads";
    private static final int SECONDS = 60;

    /** One answer. */
    @FunctionalInterface
    interface Answer {
        /** @return the epoch of the changed map */
        long give() throws RefusedException, ControllersUnavailableException;
    }

    private final BlockingQueue<Command.HandOver> commands = new LinkedBlockingQueue<>();
    private final BlockingQueue<Answer> answers = new LinkedBlockingQueue<>();
    private final AtomicInteger hurries = new AtomicInteger();
    private volatile @Nullable Map<String, Liveness> liveness = Map.of();

    /** @param value what they know of members; null: no controller replies */
    void hear(@Nullable Map<String, Liveness> value) {
        liveness = value;
    }

    void answer(Answer next) {
        answers.add(next);
    }

    /** @param epoch 0: the command is unknown */
    void refuse(long epoch) {
        answer(() -> {
            throw new RefusedException(REFUSAL, epoch);
        });
    }

    /** No controller replies to the command. */
    void stayAway() {
        answer(() -> {
            throw silence();
        });
    }

    void fail(RuntimeException bug) {
        answer(() -> {
            throw bug;
        });
    }

    private static ControllersUnavailableException silence() {
        return new ControllersUnavailableException(SILENCE, new IOException("silence"));
    }

    Command.HandOver awaitCommand() throws InterruptedException {
        Command.HandOver command = commands.poll(SECONDS, TimeUnit.SECONDS);
        assertThat(command).as("a command for the controllers").isNotNull();
        return command;
    }

    /** The number of commands that nobody has awaited. */
    int commands() {
        return commands.size();
    }

    int hurries() {
        return hurries.get();
    }

    @Override
    public long generation() {
        return GENERATION;
    }

    @Override
    public @Nullable Liveness liveness(String memberId) throws ControllersUnavailableException {
        Map<String, Liveness> known = liveness;
        if (known == null) {
            throw silence();
        }
        return known.get(memberId);
    }

    @Override
    public long handOver(Command.HandOver command) throws RefusedException, ControllersUnavailableException {
        commands.add(command);
        try {
            return answers.take().give();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new ControllersUnavailableException(SILENCE, interrupted);
        }
    }

    @Override
    public void hurry() {
        hurries.incrementAndGet();
    }
}
