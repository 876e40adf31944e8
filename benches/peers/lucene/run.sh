#!/usr/bin/env bash
# Lucene beside the engines of `treepie-peers ranked`: indexes the corpus that lies in a directory of
# that command's, as it is and in the order of bisection, asks its questions, and leaves the times
# where the command finds them. See ../README.md.
set -euo pipefail

usage="usage: run.sh OUT/CORPUS    (with lines.txt and questions.tsv, as treepie-peers ranked-prepare leaves them)
from the environment:
  JAVA_HOME       a JDK, 21 or newer (else the java on the path)
  LUCENE          where to keep the jars and classes (../target/lucene)
  CPU             the core to run on (1)
  WARM_UP         seconds of asking before times are taken, for each order (60)
  PASSES          how often to ask everything (7, like that command)
  MIN_DOC_FREQ    bisection looks at words of so many documents (4096; where texts are titles, 4)"

corpus=${1:?$usage}
for input in lines.txt questions.tsv; do
    [[ -f $corpus/$input ]] || { echo "$corpus has no $input; $usage" >&2; exit 2; }
done
here=$(cd "$(dirname "$0")" && pwd)
kept=${LUCENE:-$here/../target/lucene}
java=${JAVA_HOME:+$JAVA_HOME/bin/}java

version=10.6.0
# Of the jars at Maven Central, so that nothing else is measured by mistake.
jars="\
211424f423ff1afeb891095c2142a20a572e545906251f28b8faaa408d01f934 lucene-core
7e7fc5bcb7e2fd702701cfa7f5c209f28bdaf89cb8ef0ba379255c9d7c687430 lucene-analysis-common
76ef19cea86639c47f527af66ef71ac2fdfc1ec03d266caee3e394aac586f62e lucene-misc
c863c488fa7e06a7ba98c0e068dc03ad79f4ad7b3cb9e78a4c09e21b86c4c48a lucene-queryparser"

fetch() {
    local sum name jar
    mkdir -p "$kept"
    while read -r sum name; do
        jar=$name-$version.jar
        if [[ ! -f $kept/$jar ]]; then
            echo "downloading $jar" >&2
            curl --silent --show-error --fail --output "$kept/$jar.part" \
                "https://repo1.maven.org/maven2/org/apache/lucene/$name/$version/$jar"
            mv "$kept/$jar.part" "$kept/$jar"
        fi
        echo "$sum  $kept/$jar"
    done <<<"$jars" | sha256sum --check --quiet
}

compile() {
    "${java}c" --release 21 -Xlint -cp "$kept/*" -d "$kept/classes" "$here"/*.java
}

# Both the heap's size and its collector are fixed, so that it neither grows nor is swept on other
# threads while something is timed. Lucene decodes blocks with vectors only if the module is there.
run() {
    taskset -c "${CPU:-1}" "$java" -Xms4g -Xmx4g -XX:+UseParallelGC \
        --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED -cp "$kept/classes:$kept/*" "$@"
}

# An index is kept for the next run, with what its build took, as those of the other peers are.
build() {
    local index=$1
    shift
    if [[ ! -f $index.figures ]]; then
        echo "building $index" >&2
        rm -rf "$index"
        run Build "$@" >"$index.figures.part"
        mv "$index.figures.part" "$index.figures"
    fi
}

ask() {
    local index=$1 order=$2
    echo "asking $index: load $(cut -d' ' -f1 /proc/loadavg)" >&2
    run Ask "$index" "$corpus/questions.tsv" "$index.jsonl.part" "$order" \
        "${WARM_UP:-60}" "${PASSES:-7}"
    mv "$index.jsonl.part" "$index.jsonl"
}

# Few words of titles are in thousands of them: by those alone hardly anything moves.
min_doc_freq=4
if [[ $(head -n 1 "$corpus/lines.txt") == *$'\t'* ]]; then
    min_doc_freq=4096
fi
min_doc_freq=${MIN_DOC_FREQ:-$min_doc_freq}

fetch
compile
build "$corpus/lucene" plain "$corpus/lines.txt" "$corpus/lucene"
build "$corpus/lucene-bp" bisected "$corpus/lucene" "$corpus/lucene-bp" "$min_doc_freq"
ask "$corpus/lucene" "as given"
ask "$corpus/lucene-bp" "bisection, minDocFreq $min_doc_freq"
