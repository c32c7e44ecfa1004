package io.varve.experiments.result;

import java.util.Locale;

/**
 * One server's turn under clients that wait for their replies: a row of {@code requests.csv}. Immutable.
 *
 * @param repetition     from 1
 * @param test           its name
 * @param contestant     the server's name
 * @param requests       answered
 * @param missed         reads that did not find their key
 * @param ops            requests a second
 * @param cpuMicrosPerOp user and system time of the server for one
 * @param busyPercent    of one core, by the server
 * @param meanMicros     from sending a request to its reply
 * @param p50Micros      the same: half are no slower
 * @param p99Micros      99 % are no slower
 */
public record RequestTurn(int repetition, String test, String contestant, long requests, long missed, double ops,
        double cpuMicrosPerOp, double busyPercent, double meanMicros, double p50Micros, double p99Micros) {
    public static final String CSV_HEADER = "repetition,test,server,requests,missed,ops,server_cpu_us_per_op,server_busy_percent,mean_us,p50_us,p99_us";

    public String csv() {
        return String.format(Locale.ROOT, "%d,%s,%s,%d,%d,%.0f,%.3f,%.1f,%.3f,%.3f,%.3f", repetition, test,
                contestant.replace(',', ';'), requests, missed, ops, cpuMicrosPerOp, busyPercent, meanMicros, p50Micros,
                p99Micros);
    }
}
