package io.varve.experiments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.wire.ServerInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** The penalty experiment with several servers, truly small, on real Redis servers. Confined to the test's thread. */
final class PenaltyClusterIT {
    private static final String DEFINITION = """
            name: divided
            title: A short one
            question: Do all servers take part?
            kind: penalty
            default-scale: quick
            maxmemory: 64mb
            record-bytes: 100
            seed: 1
            workloads:
              mixed: {workload: site.ycsb.workloads.CoreWorkload, db: io.varve.ycsb.CacheAsideClient, readproportion: "0.9", updateproportion: "0.1", readmodifywriteproportion: "0", scanproportion: "0", insertproportion: "0", requestdistribution: zipfian, fieldcount: "2", fieldlength: "200", varve.db.local.delay-us: "10", varve.db.remote.delay-us: "100"}
            sizes:
              tiny: {records: 500, operations: 3000}
            configurations:
              redis: {server: redis, group: redis, primaries: 2, settings: {maxmemory-policy: noeviction}, client: {varve.fill: sent}}
            baselines: []
            scales:
              quick: {about: "SCALED: seconds", embedded: false, workloads: [mixed], sizes: [tiny], ttls: [[]], threads: [2], configurations: [redis]}
            """;

    @TempDir
    private Path directory;

    @Test
    void clientsDivideTheKeysAmongThePrimaries() throws IOException {
        Files.writeString(directory.resolve("divided.yaml"), DEFINITION);
        RunFiles files = new RunFiles(directory.resolve("out"));
        Plan plan = Plan.of(new ExperimentFiles(directory).read("divided"), "quick", Filters.NONE);
        assertThat(new Matrix(plan, files, Experiments.home()).run()).isLessThanOrEqualTo(1);
        RunSpec run = plan.runs().getFirst();
        RunRecord record = files.read(run).orElseThrow();
        assertThat(record.faults()).isEmpty();
        assertThat(record.outcome()).isEqualTo(Outcome.OK);
        assertThat(record.load().get("varve.members")).matches("127.0.0.1:\\d+,127.0.0.1:\\d+");
        String info = Files.readString(files.of(run).resolve("info-after.txt"));
        Matcher keys = Pattern.compile("db0:keys=(\\d+)").matcher(info);
        long sum = 0;
        for (int i = 0; i < 2; i++) {
            assertThat(keys.find()).isTrue();
            assertThat(Long.parseLong(keys.group(1))).as("keys of one").isBetween(100L, 400L);
            sum += Long.parseLong(keys.group(1));
        }
        assertThat(sum).isLessThanOrEqualTo(500);
        assertThat(info.split("connected_slaves:1", -1)).as("each has a replica").hasSize(3);
        assertThat(record.number("server_keyspace_hits")).isEqualTo(hits(info));
    }

    private static double hits(String info) {
        return Pattern.compile("keyspace_hits:(\\d+)").matcher(info).results()
                .mapToLong(found -> Long.parseLong(found.group(1))).sum();
    }

    @Test
    void figuresOfSeveralServersAreSums() {
        ServerInfo one = ServerInfo.parse("used_memory:10\r\nratio:0.5\r\ndb0:keys=3,expires=0\r\n");
        ServerInfo other = ServerInfo.parse("used_memory:20\r\nratio:0.7\r\ndb1:keys=4,expires=0\r\n");
        ServerInfo total = ServerInfo.total(List.of(one, other), List.of("used_memory", "none"));
        assertThat(total.number("used_memory")).hasValue(30);
        assertThat(total.decimal("ratio")).hasValue(0.5);
        assertThat(total.number("none")).isEmpty();
        assertThat(total.keys()).isEqualTo(7);
    }
}
